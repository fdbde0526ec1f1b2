// The signed-in person, and what they may do.

import { createContext, useContext } from 'react';
import { graphql, type ResultOf } from './graphql.ts';

export const ViewerQuery = graphql(`
  query Viewer {
    viewer {
      id
      email
      first_name
      last_name
      role
      scopes
      session_id
      time_zone
      locale
      company_name
    }
  }
`);

export type Viewer = ResultOf<typeof ViewerQuery>['viewer'];

export const ViewerContext = createContext<Viewer | null>(null);

export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (!viewer) throw new Error('The viewer is not loaded.');
  return viewer;
}

/** Tell whether the person may do what needs a scope. */
export function useMay(scope: string): boolean {
  return useViewer().scopes.includes(scope);
}
