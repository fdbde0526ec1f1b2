import { createRoute } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { deliverySearch } from './search.ts';

export const webhooks = createRoute({
  getParentRoute: () => root,
  path: 'settings/keys/webhooks/$id',
  validateSearch: deliverySearch,
  staticData: { scope: 'webhooks:manage' },
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  component: page(() => import('./WebhookPage.tsx'), 'WebhookPage'),
});
