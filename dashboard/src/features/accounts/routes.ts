import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { root } from '../../shell/root.ts';

const first = createRoute({
  getParentRoute: () => root,
  path: 'settings',
  beforeLoad: () => {
    throw redirect({ to: '/settings/profile' });
  },
});

const profile = createRoute({
  getParentRoute: () => root,
  path: 'settings/profile',
  staticData: { scope: 'account:read' },
  component: lazyRouteComponent(() => import('./ProfilePage.tsx'), 'ProfilePage'),
});

const company = createRoute({
  getParentRoute: () => root,
  path: 'settings/company',
  staticData: { scope: 'account:write' },
  component: lazyRouteComponent(() => import('./CompanyPage.tsx'), 'CompanyPage'),
});

const people = createRoute({
  getParentRoute: () => root,
  path: 'settings/people',
  staticData: { scope: 'conversations:write' },
  component: lazyRouteComponent(() => import('./PeoplePage.tsx'), 'PeoplePage'),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: 'settings/keys',
  staticData: { scope: 'webhooks:manage' },
  component: lazyRouteComponent(() => import('./KeysPage.tsx'), 'KeysPage'),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: 'settings/audit',
  staticData: { scope: 'account:write' },
  component: lazyRouteComponent(() => import('./AuditPage.tsx'), 'AuditPage'),
});

export const settings = [first, profile, company, people, keys, audit];
