import { createRoute } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { validated } from '../contacts/search.ts';

const staticData = { scope: 'campaigns:read' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'segments',
  staticData,
  component: page(() => import('./SegmentsPage.tsx'), 'SegmentsPage'),
});

const fresh = createRoute({
  getParentRoute: () => root,
  path: 'segments/new',
  staticData: { scope: 'campaigns:write' },
  validateSearch: validated,
  component: page(() => import('./SegmentPage.tsx'), 'NewSegmentPage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'segments/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  component: page(() => import('./SegmentPage.tsx'), 'SegmentPage'),
});

export const segments = [list, fresh, one];
