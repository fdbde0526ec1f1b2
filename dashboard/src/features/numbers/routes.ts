import { createRoute } from '@tanstack/react-router';
import { filterIn } from '../../shell/filter.ts';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';

const staticData = { scope: 'numbers:read' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'numbers',
  staticData,
  component: page(() => import('./NumbersPage.tsx'), 'NumbersPage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'numbers/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  validateSearch: ({ by }: Record<string, unknown>): { by?: string } => ({ by: filterIn(by) }),
  component: page(() => import('./NumberPage.tsx'), 'NumberPage'),
});

export const numbers = [list, one];
