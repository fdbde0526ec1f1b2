// Live updates: each enters the cache, and none is lost with a connection.

import type { Client, CombinedError } from '@urql/core';
import type { Cache } from '@urql/exchange-graphcache';
import { toAsyncIterable } from 'wonka';
import { graphql, type ResultOf } from './graphql.ts';
import { ConversationRow, placeConversation } from './inbox.ts';
import { MessageRow, placeMessage } from './thread.ts';

const LastUpdate = graphql('query LastUpdate { last_update_id }');

const Updates = graphql(
  `
    subscription Updates($after: BigInt!) {
      updates(after: $after) {
        __typename
        id
        ... on NewMessageUpdate {
          message {
            id
            ...MessageRow
          }
          conversation {
            id
            ...ConversationRow
          }
        }
        ... on MessageStatusUpdate {
          message {
            id
            ...MessageRow
          }
          conversation {
            id
            ...ConversationRow
          }
        }
        ... on ConversationUpdate {
          conversation {
            id
            ...ConversationRow
          }
        }
      }
    }
  `,
  [ConversationRow, MessageRow],
);

/** Return the id of the latest update: ask before loading what is shown. */
export async function lastUpdate(client: Client): Promise<number> {
  const { data, error } = await client.query(LastUpdate, {}, { requestPolicy: 'network-only' });
  if (!data) throw error;
  return data.last_update_id;
}

/** Follow the updates, and connect again after each disconnect; return the error that ends it. */
export async function follow(client: Client, after: number, pause: () => Promise<void>): Promise<CombinedError> {
  for (;;) {
    for await (const { data, error } of toAsyncIterable(client.subscription(Updates, { after }))) {
      if (data) after = data.updates.id;
      if (error && isFinal(error)) return error;
      if (error) break;
    }
    await pause();
  }
}

/** Tell whether the service refused: updates were missed, so load again; or the key has ended. */
function isFinal({ graphQLErrors, networkError }: CombinedError): boolean {
  return graphQLErrors.length > 0 || (networkError !== undefined && 'code' in networkError && networkError.code === 4403);
}

/** Put the message and the conversation of an update where they belong; the cache has them already. */
export function takeUpdate({ updates }: ResultOf<typeof Updates>, _: unknown, cache: Cache): void {
  if ('message' in updates && updates.message) placeMessage(cache, updates.message);
  if ('conversation' in updates && updates.conversation) placeConversation(cache, updates.conversation);
}
