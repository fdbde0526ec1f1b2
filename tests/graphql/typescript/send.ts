// Sending a text: a temporary row shows it at once, and becomes the message that the service answers.

import type { Client } from '@urql/core';
import type { Cache, ResolveInfo } from '@urql/exchange-graphcache';
import { graphql, type ResultOf, type VariablesOf } from './graphql.ts';
import { ConversationRow, findConversation, placeConversation } from './inbox.ts';
import { MessageRow, placeMessage } from './thread.ts';

const Send = graphql(
  `
    mutation Send($to: String!, $body: String!, $idempotency_key: String!) {
      send_message(to: $to, body: $body, idempotency_key: $idempotency_key, consent_attested: true) {
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
export async function send(client: Client, text: VariablesOf<typeof Send>): Promise<void> {
  const { error } = await client.mutation(Send, text);
  if (error) throw error;
}

let temporaryId = 2 ** 52; // above all ids of the service: a new row is the newest

/** Return what the service will answer, as far as it is known; null where the thread is not loaded. */
export function showAtOnce({ to, body }: VariablesOf<typeof Send>, cache: Cache) {
  const conversation = findConversation(cache, to);
  if (!conversation) return null;
  return {
    __typename: 'SentMessage',
    message: {
      __typename: 'Message',
      id: temporaryId++,
      conversation_id: conversation.id,
      direction: 'outbound',
      body,
      status: 'pending',
      status_description: null,
      created_at: new Date().toISOString(),
    },
  };
}

/** Put a text into its thread, the temporary row as well as the message that replaces it. */
export function takeSent({ send_message }: ResultOf<typeof Send>, _: unknown, cache: Cache, info: ResolveInfo): void {
  const message = send_message?.message; // null for no temporary row
  if (!message) return;
  placeMessage(cache, message);
  if (!info.optimistic) placeConversation(cache, message.conversation);
}
