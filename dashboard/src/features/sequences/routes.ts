import { createRoute } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { oneOf } from '../contacts/search.ts';

export const STATES = ['active', 'finishing', 'completed', 'exited'] as const;

const params = {
  parse: ({ id }: { id: string }) => ({ id: Number.parseInt(id, 10) || 0 }),
  stringify: ({ id }: { id: number }) => ({ id: String(id) }),
};
const staticData = { scope: 'campaigns:read' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'sequences',
  staticData,
  component: page(() => import('./SequencesPage.tsx'), 'SequencesPage'),
});

const fresh = createRoute({
  getParentRoute: () => root,
  path: 'sequences/new',
  staticData: { scope: 'campaigns:write' },
  component: page(() => import('./NewSequencePage.tsx'), 'NewSequencePage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'sequences/$id',
  staticData,
  params,
  validateSearch: ({ status, job }: Record<string, unknown>): { status?: (typeof STATES)[number]; job?: number } => ({
    status: oneOf(STATES, status),
    job: Number(job) || undefined,
  }),
  component: page(() => import('./SequencePage.tsx'), 'SequencePage'),
});

const edit = createRoute({
  getParentRoute: () => root,
  path: 'sequences/$id/edit',
  staticData: { scope: 'campaigns:write' },
  params,
  component: page(() => import('./EditSequencePage.tsx'), 'EditSequencePage'),
});

export const sequences = [list, fresh, one, edit];
