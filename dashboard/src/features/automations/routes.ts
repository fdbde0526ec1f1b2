import { createRoute } from '@tanstack/react-router';
import { filterIn } from '../../shell/filter.ts';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';

const staticData = { scope: 'account:read' };

type Tab = 'runs' | 'edit';

const list = createRoute({
  getParentRoute: () => root,
  path: 'automations',
  staticData,
  component: page(() => import('./AutomationsPage.tsx'), 'AutomationsPage'),
});

const fresh = createRoute({
  getParentRoute: () => root,
  path: 'automations/new',
  staticData: { scope: 'campaigns:write' },
  validateSearch: ({ template }: Record<string, unknown>): { template?: string } => ({
    template: template === undefined ? undefined : String(template),
  }),
  component: page(() => import('./NewAutomationPage.tsx'), 'NewAutomationPage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'automations/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  validateSearch: ({ tab, status }: Record<string, unknown>): { tab?: Tab; status?: string } => ({
    tab: tab === 'edit' ? tab : undefined,
    status: filterIn(status),
  }),
  component: page(() => import('./AutomationPage.tsx'), 'AutomationPage'),
});

const keywords = createRoute({
  getParentRoute: () => root,
  path: 'keywords',
  staticData: { scope: 'campaigns:read' },
  component: page(() => import('./KeywordsPage.tsx'), 'KeywordsPage'),
});

export const automations = [list, fresh, one, keywords];
