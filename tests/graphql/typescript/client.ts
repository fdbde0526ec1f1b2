// The urql client: queries and mutations over HTTP, live updates over a WebSocket.

import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-ws';
import { cache } from './cache.ts';

export function connect(url: string, key: string) {
  const headers = { authorization: `Bearer ${key}` };
  const socket = createClient({
    url: url.replace(/^http/, 'ws'),
    connectionParams: headers,
    retryAttempts: 0, // live.ts connects again, with the id of the last update
  });
  const live = subscriptionExchange({
    forwardSubscription: ({ query = '', variables }) => ({
      subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
    }),
  });
  return new Client({
    url,
    fetchOptions: { headers },
    preferGetMethod: false,
    exchanges: [cache(), fetchExchange, live],
  });
}
