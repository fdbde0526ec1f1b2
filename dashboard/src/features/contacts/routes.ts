import { createRoute } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { validated, validatedDuplicates } from './search.ts';

const staticData = { scope: 'contacts:read' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'contacts',
  staticData,
  validateSearch: validated,
  component: page(() => import('./ContactsPage.tsx'), 'ContactsPage'),
});

const importing = createRoute({
  getParentRoute: () => root,
  path: 'contacts/import',
  staticData: { scope: 'contacts:write' },
  component: page(() => import('./ImportPage.tsx'), 'ImportPage'),
});

const duplicates = createRoute({
  getParentRoute: () => root,
  path: 'contacts/duplicates',
  staticData,
  validateSearch: validatedDuplicates,
  component: page(() => import('./DuplicatesPage.tsx'), 'DuplicatesPage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'contacts/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  component: page(() => import('./ContactPage.tsx'), 'ContactPage'),
});

export const contacts = [list, importing, duplicates, one];
