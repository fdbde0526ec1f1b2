import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../shell/root.ts';
import { oneOf } from '../contacts/search.ts';

export const STATES = ['active', 'completed', 'exited'] as const;

const staticData = { scope: 'campaigns:read' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'sequences',
  staticData,
  component: lazyRouteComponent(() => import('./SequencesPage.tsx'), 'SequencesPage'),
});

const fresh = createRoute({
  getParentRoute: () => root,
  path: 'sequences/new',
  staticData: { scope: 'campaigns:write' },
  component: lazyRouteComponent(() => import('./NewSequencePage.tsx'), 'NewSequencePage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'sequences/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  validateSearch: ({ status }: Record<string, unknown>): { status?: (typeof STATES)[number] } => ({
    status: oneOf(STATES, status),
  }),
  component: lazyRouteComponent(() => import('./SequencePage.tsx'), 'SequencePage'),
});

export const sequences = [list, fresh, one];
