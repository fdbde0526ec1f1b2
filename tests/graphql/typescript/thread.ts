// A conversation: its messages, the newest first; sending a text; marking what was read.

import type { Client } from '@urql/core';
import type { Cache } from '@urql/exchange-graphcache';
import { graphql, readFragment, type FragmentOf } from './graphql.ts';
import { openList, place, WINDOWS, type End } from './list.ts';

export const MessageRow = graphql(`
  fragment MessageRow on Message {
    id
    conversation_id
    direction
    body
    status
    status_description
    created_at
  }
`);

const Thread = graphql(
  `
    query Thread($id: BigInt!, $first: Int, $after: String, $last: Int, $before: String) {
      conversation(id: $id) {
        id
        messages(first: $first, after: $after, last: $last, before: $before) {
          nodes {
            id
            ...MessageRow
          }
          page_info {
            has_next_page
            has_previous_page
            start_cursor
            end_cursor
          }
        }
      }
    }
  `,
  [MessageRow],
);

const MarkRead = graphql(`
  mutation MarkRead($id: BigInt!, $read_up_to: BigInt!) {
    update_conversation(id: $id, changes: { read_up_to: $read_up_to }) {
      id
      read_up_to
      unread_count
    }
  }
`);

const Linked = graphql(
  `
    query Linked($conversation_id: BigInt!, $message_id: BigInt!) {
      conversation(id: $conversation_id) {
        id
        contact {
          id
          label
        }
      }
      message(id: $message_id) {
        id
        ...MessageRow
      }
    }
  `,
  [MessageRow],
);

export type Message = { id: number } & FragmentOf<typeof MessageRow>;

export function openThread(client: Client, id: number, end: End, show: (rows: Message[]) => void) {
  return openList(
    end,
    (window) => client.query(Thread, { id, ...window }),
    (data) => data.conversation?.messages,
    show,
  );
}

/** Load what a link to a message shows: what is gone is null, and the rest is there. */
export function openMessage(client: Client, conversation_id: number, message_id: number) {
  return client.query(Linked, { conversation_id, message_id }).toPromise();
}

export async function markRead(client: Client, id: number, read_up_to: number): Promise<void> {
  const { error } = await client.mutation(MarkRead, { id, read_up_to });
  if (error) throw error;
}

/** Put a message where its id places it in its thread. */
export function placeMessage(cache: Cache, row: Message): void {
  const { conversation_id } = readFragment(MessageRow, row);
  cache.updateQuery({ query: Thread, variables: { id: conversation_id, ...WINDOWS.start } }, (data) => {
    if (!data?.conversation) return data;
    const { messages } = data.conversation;
    const nodes = place(messages, row, (other) => other.id < row.id);
    return { ...data, conversation: { ...data.conversation, messages: { ...messages, nodes } } };
  });
}
