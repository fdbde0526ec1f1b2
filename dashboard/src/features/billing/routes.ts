import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../shell/root.ts';

export const billing = createRoute({
  getParentRoute: () => root,
  path: 'billing',
  staticData: { scope: 'billing:read' },
  component: lazyRouteComponent(() => import('./BillingPage.tsx'), 'BillingPage'),
});
