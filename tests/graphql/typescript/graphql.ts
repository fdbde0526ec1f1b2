// The typed `graphql()` function, made from schema.graphql.

import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.ts';

export const graphql = initGraphQLTada<{
  introspection: typeof introspection;
  scalars: { BigInt: number; DateTime: string; JSON: unknown };
}>();

export { readFragment } from 'gql.tada';
export type { FragmentOf, ResultOf, VariablesOf } from 'gql.tada';
