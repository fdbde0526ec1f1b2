import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../shell/root.ts';

export const webhooks = createRoute({
  getParentRoute: () => root,
  path: 'settings/keys/webhooks/$id',
  staticData: { scope: 'webhooks:manage' },
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  component: lazyRouteComponent(() => import('./WebhookPage.tsx'), 'WebhookPage'),
});
