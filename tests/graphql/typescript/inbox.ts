// The inbox: conversations, the one with the latest message first.

import type { Client } from '@urql/core';
import type { Cache } from '@urql/exchange-graphcache';
import { graphql, readFragment, type FragmentOf } from './graphql.ts';
import { openList, place, WINDOWS, type End } from './list.ts';

export const ConversationRow = graphql(`
  fragment ConversationRow on Conversation {
    id
    status
    unread_count
    read_up_to
    last_message_at
    contact {
      id
      label
      phone
    }
    assignee {
      id
      email
    }
    last_message {
      id
      body
      direction
      status
    }
  }
`);

const Inbox = graphql(
  `
    query Inbox($first: Int, $after: String, $last: Int, $before: String) {
      conversations(first: $first, after: $after, last: $last, before: $before) {
        nodes {
          id
          ...ConversationRow
        }
        page_info {
          has_next_page
          has_previous_page
          start_cursor
          end_cursor
        }
      }
    }
  `,
  [ConversationRow],
);

export type Conversation = { id: number } & FragmentOf<typeof ConversationRow>;

export function openInbox(client: Client, end: End, show: (rows: Conversation[]) => void) {
  return openList(
    end,
    (window) => client.query(Inbox, window),
    (data) => data.conversations,
    show,
  );
}

/** Put a conversation where its latest message places it. */
export function placeConversation(cache: Cache, row: Conversation): void {
  cache.updateQuery({ query: Inbox, variables: WINDOWS.start }, (data) => {
    if (!data) return data;
    const nodes = place(data.conversations, row, (other) => timeOf(other) <= timeOf(row));
    return { ...data, conversations: { ...data.conversations, nodes } };
  });
}

function timeOf(conversation: Conversation): string {
  return readFragment(ConversationRow, conversation).last_message_at;
}
