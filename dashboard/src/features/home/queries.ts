import { graphql, type ResultOf } from '../../graphql/index.ts';

export const HomePageQuery = graphql(`
  query HomePage {
    setup_status {
      texts_reach_phones
      next_step
      steps {
        name
        is_done
        is_required
        text
      }
    }
  }
`);

export type SetupStep = ResultOf<typeof HomePageQuery>['setup_status']['steps'][number];

export const HomeBalance = graphql(`
  query HomeBalance {
    balance {
      balance
      rate
      currency
      daily_avg_send
      estimated_days_left
      low_balance
      is_low
    }
  }
`);

export const HomeConversations = graphql(`
  query HomeConversations {
    conversation_counts {
      unread
      unassigned
      possible_opt_out
    }
  }
`);

export const HomeTexts = graphql(`
  query HomeTexts($days: Int!, $bucket: StatsBucket!, $time_zone: String!) {
    delivery_stats(days: $days, bucket: $bucket, time_zone: $time_zone) {
      start
      sent
      delivered
      failed
      replies
      opt_outs
    }
  }
`);

export type Point = ResultOf<typeof HomeTexts>['delivery_stats'][number];

export const HomeWebhooks = graphql(`
  query HomeWebhooks {
    webhooks {
      id
      target_url
      status
      failing_since
    }
    crm_connections {
      integration_id
      kind
      state
    }
  }
`);

export const HomeConnections = graphql(`
  query HomeConnections {
    carrier_connections {
      id
      name
      health {
        alerts {
          kind
          text
        }
      }
    }
  }
`);
