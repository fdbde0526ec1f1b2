// The normalized cache: how lists grow, and how texts and updates enter them.

import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { introspection } from './graphql-env.ts';
import { takeUpdate } from './live.ts';
import { showAtOnce, takeSent } from './send.ts';

export const cache = () =>
  cacheExchange({
    schema: introspection,
    resolvers: {
      Query: { conversations: relayPagination() },
      Conversation: { messages: relayPagination() },
    },
    optimistic: {
      reply: showAtOnce,
    },
    updates: {
      Mutation: { reply: takeSent },
      Subscription: { updates: takeUpdate },
    },
  });
