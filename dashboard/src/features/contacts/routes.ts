import { createRoute } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { validated, validatedDuplicates, validatedImport } from './search.ts';

const ID = {
  parse: ({ id }: { id: string }) => ({ id: Number.parseInt(id, 10) || 0 }),
  stringify: ({ id }: { id: number }) => ({ id: String(id) }),
};

const staticData = { scope: 'contacts:read' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'contacts',
  staticData,
  validateSearch: validated,
  component: page(() => import('./ContactsPage.tsx'), 'ContactsPage'),
});

const importPage = {
  getParentRoute: () => root,
  staticData: { scope: 'contacts:write' },
  validateSearch: validatedImport,
  component: page(() => import('./ImportPage.tsx'), 'ImportPage'),
};

const importing = createRoute({ ...importPage, path: 'contacts/import' });

const imported = createRoute({ ...importPage, path: 'contacts/import/$id', params: ID });

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
  params: ID,
  component: page(() => import('./ContactPage.tsx'), 'ContactPage'),
});

export const contacts = [list, importing, imported, duplicates, one];
