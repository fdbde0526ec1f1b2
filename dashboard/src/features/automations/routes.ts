import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../shell/root.ts';

const staticData = { scope: 'account:read' };

type Tab = 'runs' | 'edit';

const list = createRoute({
  getParentRoute: () => root,
  path: 'automations',
  staticData,
  component: lazyRouteComponent(() => import('./AutomationsPage.tsx'), 'AutomationsPage'),
});

const fresh = createRoute({
  getParentRoute: () => root,
  path: 'automations/new',
  staticData: { scope: 'campaigns:write' },
  validateSearch: ({ template }: Record<string, unknown>): { template?: string } => ({
    template: template === undefined ? undefined : String(template),
  }),
  component: lazyRouteComponent(() => import('./NewAutomationPage.tsx'), 'NewAutomationPage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'automations/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: Tab } => ({ tab: tab === 'edit' ? tab : undefined }),
  component: lazyRouteComponent(() => import('./AutomationPage.tsx'), 'AutomationPage'),
});

const keywords = createRoute({
  getParentRoute: () => root,
  path: 'keywords',
  staticData: { scope: 'campaigns:read' },
  component: lazyRouteComponent(() => import('./KeywordsPage.tsx'), 'KeywordsPage'),
});

export const automations = [list, fresh, one, keywords];
