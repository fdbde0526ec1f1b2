import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../shell/root.ts';

export const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  staticData: { scope: 'account:read' },
  component: lazyRouteComponent(() => import('./HomePage.tsx'), 'HomePage'),
});
