import { createRoute } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';

const staticData = { scope: 'campaigns:read' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'templates',
  staticData,
  validateSearch: ({ search }: Record<string, unknown>): { search?: string } => ({
    search: search ? String(search) : undefined,
  }),
  component: page(() => import('./TemplatesPage.tsx'), 'TemplatesPage'),
});

const fresh = createRoute({
  getParentRoute: () => root,
  path: 'templates/new',
  staticData: { scope: 'campaigns:write' },
  component: page(() => import('./TemplatePage.tsx'), 'NewTemplatePage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'templates/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  component: page(() => import('./TemplatePage.tsx'), 'TemplatePage'),
});

export const templates = [list, fresh, one];
