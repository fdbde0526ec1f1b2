import { createRoute } from '@tanstack/react-router';
import { filterIn } from '../../shell/filter.ts';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';

const staticData = { scope: 'webhooks:manage' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'settings/integrations',
  staticData,
  component: page(() => import('./IntegrationsPage.tsx'), 'IntegrationsPage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'settings/integrations/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  validateSearch: ({ status }: Record<string, unknown>): { status?: string } => ({ status: filterIn(status) }),
  component: page(() => import('./IntegrationPage.tsx'), 'IntegrationPage'),
});

export const integrations = [list, one];
