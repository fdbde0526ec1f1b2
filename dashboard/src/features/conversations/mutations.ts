import { ConversationRow, graphql, MessageRow } from '../../graphql/index.ts';

export const Reply = graphql(
  `
    mutation InboxReply(
      $conversation_id: BigInt!
      $body: String!
      $idempotency_key: String!
      $expected_version: BigInt
    ) {
      reply(
        conversation_id: $conversation_id
        body: $body
        idempotency_key: $idempotency_key
        expected_version: $expected_version
        consent_attested: true
      ) {
        credits_remaining
        message {
          id
          ...MessageRow
        }
      }
    }
  `,
  [MessageRow],
);

export const FirstText = graphql(`
  mutation InboxFirstText($to: String!, $body: String!, $idempotency_key: String!) {
    send_message(to: $to, body: $body, consent_attested: true, idempotency_key: $idempotency_key) {
      message_id
      segments
      message {
        id
        conversation_id
      }
    }
  }
`);

export const ReplyLater = graphql(
  `
    mutation InboxReplyLater(
      $conversation_id: BigInt!
      $body: String!
      $send_at: DateTime!
      $idempotency_key: String!
    ) {
      reply(
        conversation_id: $conversation_id
        body: $body
        send_at: $send_at
        idempotency_key: $idempotency_key
        consent_attested: true
      ) {
        message {
          id
          ...MessageRow
        }
      }
    }
  `,
  [MessageRow],
);

export const CancelText = graphql(
  `
    mutation InboxCancelText($id: BigInt!) {
      cancel_message(id: $id) {
        message {
          id
          ...MessageRow
        }
      }
    }
  `,
  [MessageRow],
);

export const AddNote = graphql(`
  mutation InboxAddNote($conversation_id: BigInt!, $body: String!, $idempotency_key: String) {
    add_note(conversation_id: $conversation_id, body: $body, idempotency_key: $idempotency_key) {
      id
    }
  }
`);

export const DeleteNote = graphql(`
  mutation InboxDeleteNote($id: BigInt!) {
    delete_note(id: $id) {
      id
    }
  }
`);

export const AnnouncePresence = graphql(`
  mutation InboxAnnouncePresence($conversation_id: BigInt!, $typing: Boolean!) {
    announce_presence(conversation_id: $conversation_id, typing: $typing) {
      id
    }
  }
`);

export const SuggestReply = graphql(`
  mutation InboxSuggestReply($conversation_id: BigInt!) {
    suggest_reply(conversation_id: $conversation_id) {
      body
      reason
    }
  }
`);

export const MarkUnread = graphql(`
  mutation InboxMarkUnread($id: BigInt!) {
    update_conversation(id: $id, changes: { unread: true }) {
      id
      read_up_to
      unread_count
    }
  }
`);

export const MarkRead = graphql(`
  mutation InboxMarkRead($id: BigInt!, $read_up_to: BigInt!) {
    update_conversation(id: $id, changes: { read_up_to: $read_up_to }) {
      id
      read_up_to
      unread_count
    }
  }
`);

export const SetStatus = graphql(
  `
    mutation InboxSetStatus($id: BigInt!, $status: ConversationStatus!) {
      update_conversation(id: $id, changes: { status: $status }) {
        id
        ...ConversationRow
      }
    }
  `,
  [ConversationRow],
);

export const Assign = graphql(
  `
    mutation InboxAssign($id: BigInt!, $assignee_id: BigInt, $expected_version: BigInt) {
      assign_conversation(id: $id, assignee_id: $assignee_id, expected_version: $expected_version) {
        id
        ...ConversationRow
      }
    }
  `,
  [ConversationRow],
);

export const Snooze = graphql(
  `
    mutation InboxSnooze($id: BigInt!, $snoozed_until: DateTime!) {
      update_conversation(id: $id, changes: { status: snoozed, snoozed_until: $snoozed_until }) {
        id
        ...ConversationRow
      }
    }
  `,
  [ConversationRow],
);

export const Decide = graphql(
  `
    mutation InboxDecide($id: BigInt!, $opted_out: Boolean!) {
      review_opt_out(id: $id, opted_out: $opted_out) {
        id
        ...ConversationRow
      }
    }
  `,
  [ConversationRow],
);

export const ChangeContact = graphql(`
  mutation InboxChangeContact($id: BigInt!, $changes: ContactChanges!) {
    update_contact(id: $id, changes: $changes) {
      id
      pipeline_stage
      tags
      score
    }
  }
`);

export const AddTag = graphql(`
  mutation InboxAddTag($id: BigInt!, $tag: String!) {
    add_tag(id: $id, tag: $tag) {
      id
      tags
      score
    }
  }
`);

export const RemoveTag = graphql(`
  mutation InboxRemoveTag($id: BigInt!, $tag: String!) {
    remove_tag(id: $id, tag: $tag) {
      id
      tags
      score
    }
  }
`);
