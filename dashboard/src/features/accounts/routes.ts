import { createRoute, redirect } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { auditSearch } from './actions.ts';

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
  component: page(() => import('./ProfilePage.tsx'), 'ProfilePage'),
});

const company = createRoute({
  getParentRoute: () => root,
  path: 'settings/company',
  staticData: { scope: 'account:write' },
  component: page(() => import('./CompanyPage.tsx'), 'CompanyPage'),
});

const people = createRoute({
  getParentRoute: () => root,
  path: 'settings/people',
  staticData: { scope: 'conversations:write' },
  component: page(() => import('./PeoplePage.tsx'), 'PeoplePage'),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: 'settings/keys',
  staticData: { scope: 'webhooks:manage' },
  component: page(() => import('./KeysPage.tsx'), 'KeysPage'),
});

const sending = createRoute({
  getParentRoute: () => root,
  path: 'settings/sending',
  staticData: { scope: 'account:write' },
  component: page(() => import('./SendingPage.tsx'), 'SendingPage'),
});

const applications = createRoute({
  getParentRoute: () => root,
  path: 'settings/applications',
  staticData: { scope: 'account:read' },
  component: page(() => import('./ApplicationsPage.tsx'), 'ApplicationsPage'),
});

const sessions = createRoute({
  getParentRoute: () => root,
  path: 'settings/sessions',
  staticData: { scope: 'account:read' },
  component: page(() => import('./SessionsPage.tsx'), 'SessionsPage'),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: 'settings/audit',
  validateSearch: auditSearch,
  staticData: { scope: 'account:write' },
  component: page(() => import('./AuditPage.tsx'), 'AuditPage'),
});

export const settings = [first, profile, company, sending, people, keys, applications, sessions, audit];
