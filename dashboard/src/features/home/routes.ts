import { createRoute } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { validated } from './search.ts';

export const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  staticData: { scope: 'account:read' },
  validateSearch: validated,
  component: page(() => import('./HomePage.tsx'), 'HomePage'),
});
