// The route tree, written by hand: each page is a chunk of its own.

import { createRoute, createRouter, parseSearchWith, stringifySearchWith } from '@tanstack/react-router';
import { settings } from './features/accounts/routes.ts';
import { agents } from './features/agents/routes.ts';
import { automations } from './features/automations/routes.ts';
import { billing } from './features/billing/routes.ts';
import { campaigns } from './features/campaigns/routes.ts';
import { contacts } from './features/contacts/routes.ts';
import { inbox } from './features/conversations/routes.ts';
import { home } from './features/home/routes.ts';
import { segments } from './features/segments/routes.ts';
import { sequences } from './features/sequences/routes.ts';
import { templates } from './features/templates/routes.ts';
import { integrations } from './features/integrations/routes.ts';
import { notices } from './features/notices/routes.ts';
import { numbers } from './features/numbers/routes.ts';
import { webhooks } from './features/webhooks/routes.ts';
import { RouteError } from './shell/boundaries.tsx';
import { root } from './shell/root.ts';
import { SignedIn } from './shell/SignInAgain.tsx';

const signedIn = createRoute({ getParentRoute: () => root, path: 'signed-in', component: SignedIn });

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    ...inbox,
    ...contacts,
    ...campaigns,
    ...sequences,
    ...templates,
    ...segments,
    ...billing,
    ...numbers,
    ...agents,
    ...automations,
    ...settings,
    notices,
    ...integrations,
    webhooks,
    signedIn,
  ]),
  basepath: '/app',
  defaultPreload: 'intent',
  // A query keeps its old data while that of other variables is loaded: no page shows those of another record.
  defaultRemountDeps: ({ params }) => params,
  defaultErrorComponent: RouteError,
  scrollRestoration: true,
  parseSearch: parseSearchWith((value) => value),
  stringifySearch: stringifySearchWith(String),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
