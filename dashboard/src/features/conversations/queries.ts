import {
  ConversationRow,
  graphql,
  type Listing,
  type Message,
  type Conversation,
  MessageRow,
  type ResultOf,
  type VariablesOf,
} from '../../graphql/index.ts';

export const Inbox = graphql(
  `
    query Inbox(
      $status: ConversationStatus
      $assignee_id: BigInt
      $unread_only: Boolean!
      $unassigned: Boolean!
      $possible_opt_out: Boolean!
      $phone_number_id: BigInt
      $search: String
      $sort: ConversationSort!
      $after: String
    ) {
      conversations(
        status: $status
        assignee_id: $assignee_id
        unread_only: $unread_only
        unassigned: $unassigned
        possible_opt_out: $possible_opt_out
        phone_number_id: $phone_number_id
        search: $search
        sort: $sort
        first: 40
        after: $after
      ) {
        nodes {
          id
          ...ConversationRow
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [ConversationRow],
);

export const InboxCounts = graphql(`
  query InboxCounts {
    conversation_counts {
      open
      mine
      unassigned
      unread
      snoozed
      possible_opt_out
    }
  }
`);

export const inboxListing: Listing<ResultOf<typeof Inbox>, VariablesOf<typeof Inbox>, Conversation> = {
  document: Inbox,
  connectionOf: ({ conversations }) => conversations,
  isAfter: (row, other) => row.last_message_at < other.last_message_at,
};

/** The conversations by how long they wait, which no field of a row tells. */
export const waitingListing: typeof inboxListing = {
  document: Inbox,
  connectionOf: ({ conversations }) => conversations,
};

export const InboxConversation = graphql(
  `
    query InboxConversation($id: BigInt!) {
      conversation(id: $id) {
        id
        ...ConversationRow
        contact {
          id
          first_name
          last_name
          email
          tags
          pipeline_stage
          score
          created_at
        }
      }
    }
  `,
  [ConversationRow],
);

/** What stands between the texts of a thread: notes and events. */
export const InboxEntries = graphql(`
  query InboxEntries($id: BigInt!, $before: BigInt) {
    timeline(conversation_id: $id, first: 60, before: $before) {
      has_older
      items {
        __typename
        id
        at
        ... on Note {
          body
          author {
            kind
            id
            label
          }
        }
        ... on ConversationEvent {
          kind
          snoozed_until
          assignee_id
          actor {
            kind
            id
            label
          }
        }
      }
    }
  }
`);

const Thread = graphql(
  `
    query Thread($id: BigInt!, $first: Int = 30, $after: String) {
      conversation(id: $id) {
        id
        messages(first: $first, after: $after) {
          nodes {
            id
            ...MessageRow
          }
          page_info {
            has_next_page
            end_cursor
          }
        }
      }
    }
  `,
  [MessageRow],
);

export const FirstUnread = graphql(`
  query FirstUnread($id: BigInt!) {
    conversation(id: $id) {
      id
      first_unread_message_id
    }
  }
`);

/** The latest texts of a conversation that has changed since a text was sent in it. */
export const LatestTexts = graphql(
  `
    query LatestTexts($id: BigInt!) {
      conversation(id: $id) {
        id
        version
        messages(first: 50) {
          nodes {
            id
            ...MessageRow
          }
        }
      }
    }
  `,
  [MessageRow],
);

const NOTHING = { nodes: [], page_info: { has_next_page: false, end_cursor: null } };

export const threadListing: Listing<ResultOf<typeof Thread>, VariablesOf<typeof Thread>, Message> = {
  document: Thread,
  connectionOf: ({ conversation }) => conversation?.messages ?? NOTHING,
  isAfter: (row, other) => row.id < other.id,
};

export const SendExplained = graphql(`
  query SendExplained($to: String!) {
    explain_send(to: $to, body: "Hello", consent_attested: true) {
      deferred_until
    }
  }
`);

export const InboxNumbers = graphql(`
  query InboxNumbers {
    phone_numbers {
      id
      label
      phone_number
    }
  }
`);

export const InboxUsers = graphql(`
  query InboxUsers {
    users {
      id
      email
      first_name
      last_name
      role
    }
  }
`);

export const ComposerTemplates = graphql(`
  query ComposerTemplates($search: String) {
    templates(search: $search, first: 8) {
      nodes {
        id
        name
        body
      }
    }
  }
`);
