import { createRoute } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';

export const notices = createRoute({
  getParentRoute: () => root,
  path: 'settings/notices',
  staticData: { scope: 'account:read' },
  component: page(() => import('./NoticesPage.tsx'), 'NoticesPage'),
});
