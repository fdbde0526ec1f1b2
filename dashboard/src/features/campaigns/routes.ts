import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../shell/root.ts';

const staticData = { scope: 'campaigns:read' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'campaigns',
  staticData,
  component: lazyRouteComponent(() => import('./CampaignsPage.tsx'), 'CampaignsPage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'campaigns/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  component: lazyRouteComponent(() => import('./CampaignPage.tsx'), 'CampaignPage'),
});

export const campaigns = [list, one];
