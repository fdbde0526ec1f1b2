// The fields of a message, a conversation and a campaign that lists and live updates show.

import { type FragmentOf, graphql } from './graphql.ts';

export const MessageRow = graphql(`
  fragment MessageRow on Message @_unmask {
    id
    conversation_id
    direction
    body
    actor {
      kind
      id
      label
    }
    status
    status_description
    error_code
    segments
    credits
    created_at
    sent_at
    delivered_at
    failed_at
    deferred_until
    deferral_rule
    send_at
    media {
      url
      content_type
    }
  }
`);

export const ConversationRow = graphql(`
  fragment ConversationRow on Conversation @_unmask {
    id
    status
    unread_count
    read_up_to
    possible_opt_out
    review_due_at
    snoozed_until
    version
    last_message_at
    assignee_id
    contact {
      id
      label
      phone
      status
      dnd_sms
    }
    assignee {
      id
      email
      first_name
    }
    last_message {
      id
      body
      direction
      status
    }
  }
`);

export const CampaignProgress = graphql(`
  fragment CampaignProgress on Campaign @_unmask {
    id
    status
    reason
    scheduled_at
    local_at
    sent_at
    ended_at
    counts {
      state
      reason
      description
      recipients
      segments
      credits
    }
  }
`);

export type Message = FragmentOf<typeof MessageRow>;
export type Conversation = FragmentOf<typeof ConversationRow>;
