// The root of the route tree: every page is a child of it, with the scope that it needs.

import { createRootRoute } from '@tanstack/react-router';
import { Missing, RouteError } from './boundaries.tsx';
import { Shell } from './Shell.tsx';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Who lacks it is told so in place of the page. */
    scope?: string;
  }
}

export const root = createRootRoute({
  component: Shell,
  notFoundComponent: Missing,
  errorComponent: RouteError,
});
