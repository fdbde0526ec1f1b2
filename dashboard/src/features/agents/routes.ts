import { createRoute } from '@tanstack/react-router';
import { filterIn } from '../../shell/filter.ts';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { type Tab, TABS } from './tabs.ts';

const staticData = { scope: 'agents:read' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'agents',
  staticData,
  component: page(() => import('./AgentsPage.tsx'), 'AgentsPage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'agents/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  validateSearch: ({ tab, outcome }: Record<string, unknown>): { tab?: Tab; outcome?: string } => ({
    tab: TABS.find((each) => each === tab),
    outcome: filterIn(outcome),
  }),
  component: page(() => import('./AgentPage.tsx'), 'AgentPage'),
});

export const agents = [list, one];
