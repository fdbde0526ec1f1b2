import { createRoute, redirect } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { isView, validated } from './views.ts';

const staticData = { scope: 'conversations:read' };
/** The list stays while one conversation after another is opened. */
const remountDeps = () => null;
const component = page(() => import('./InboxPage.tsx'), 'InboxPage');

const first = createRoute({
  getParentRoute: () => root,
  path: 'inbox',
  staticData,
  beforeLoad: () => {
    throw redirect({ to: '/inbox/$view', params: { view: 'open' } });
  },
});

const list = createRoute({
  getParentRoute: () => root,
  path: 'inbox/$view',
  staticData,
  remountDeps,
  validateSearch: validated,
  params: { parse: ({ view }) => ({ view: isView(view) ? view : ('open' as const) }) },
  component,
});

const thread = createRoute({
  getParentRoute: () => root,
  path: 'inbox/$view/$id',
  staticData,
  remountDeps,
  validateSearch: validated,
  params: {
    parse: ({ view, id }) => ({ view: isView(view) ? view : ('open' as const), id: Number.parseInt(id, 10) || 0 }),
    stringify: ({ view, id }) => ({ view, id: String(id) }),
  },
  component,
});

export const inbox = [first, list, thread];
