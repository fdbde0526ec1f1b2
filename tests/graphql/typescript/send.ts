// Sending a text: a temporary row shows it at once, and becomes the message that the service answers.

import type { Client } from '@urql/core';
import type { Cache, ResolveInfo } from '@urql/exchange-graphcache';
import { graphql, type ResultOf, type VariablesOf } from './graphql.ts';
import { ConversationRow, placeConversation } from './inbox.ts';
import { MessageRow, placeMessage } from './thread.ts';

const Reply = graphql(
  `
    mutation Reply($conversation_id: BigInt!, $body: String!, $idempotency_key: String!) {
      reply(
        conversation_id: $conversation_id
        body: $body
        idempotency_key: $idempotency_key
        consent_attested: true
      ) {
        credits_remaining
        message {
          id
          ...MessageRow
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

/** Send a text. The caller makes one key for each text, and sends it again with the same key where no answer came. */
export async function send(client: Client, text: VariablesOf<typeof Reply>): Promise<void> {
  const { error } = await client.mutation(Reply, text);
  if (error) throw error;
}

let temporaryId = 2 ** 52; // above all ids of the service: a new row is the newest

/** Return what the service will answer, as far as it is known. */
export function showAtOnce({ conversation_id, body }: VariablesOf<typeof Reply>) {
  return {
    __typename: 'SentMessage',
    message: {
      __typename: 'Message',
      id: temporaryId++,
      conversation_id,
      direction: 'outbound',
      body,
      status: 'pending',
      status_description: null,
      created_at: new Date().toISOString(),
    },
  };
}

/** Put a text into its thread, the temporary row as well as the message that replaces it. */
export function takeSent({ reply }: ResultOf<typeof Reply>, _: unknown, cache: Cache, info: ResolveInfo): void {
  const message = reply.message;
  if (!message) return; // its contact was deleted
  placeMessage(cache, message);
  if (!info.optimistic) placeConversation(cache, message.conversation);
}
