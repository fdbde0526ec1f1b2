import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../shell/root.ts';
import { validated } from './search.ts';

const staticData = { scope: 'contacts:read' };

const list = createRoute({
  getParentRoute: () => root,
  path: 'contacts',
  staticData,
  validateSearch: validated,
  component: lazyRouteComponent(() => import('./ContactsPage.tsx'), 'ContactsPage'),
});

const importing = createRoute({
  getParentRoute: () => root,
  path: 'contacts/import',
  staticData: { scope: 'contacts:write' },
  component: lazyRouteComponent(() => import('./ImportPage.tsx'), 'ImportPage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'contacts/$id',
  staticData,
  params: { parse: ({ id }) => ({ id: Number.parseInt(id, 10) || 0 }), stringify: ({ id }) => ({ id: String(id) }) },
  component: lazyRouteComponent(() => import('./ContactPage.tsx'), 'ContactPage'),
});

export const contacts = [list, importing, one];
