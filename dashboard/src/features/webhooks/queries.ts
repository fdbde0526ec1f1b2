import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const WebhookRow = graphql(`
  fragment WebhookRow on Webhook @_unmask {
    id
    kind
    target_url
    description
    status
    version
    failing_since
    last_success_at
    created_at
    events
    stats {
      attempts
      success_share
      p95_seconds
    }
  }
`);

export const WebhooksList = graphql(
  `
    query WebhooksPage {
      webhooks {
        id
        ...WebhookRow
      }
    }
  `,
  [WebhookRow],
);

export const WebhookOne = graphql(
  `
    query WebhookPage($id: BigInt!) {
      webhook(id: $id) {
        id
        ...WebhookRow
      }
    }
  `,
  [WebhookRow],
);

export const Deliveries = graphql(`
  query WebhookDeliveries(
    $subscription_id: BigInt!
    $status: WebhookDeliveryStatus
    $event: String
    $contact_id: BigInt
    $answer: WebhookAnswer
    $since: DateTime
    $until: DateTime
    $after: String
  ) {
    webhook_deliveries(
      subscription_id: $subscription_id
      status: $status
      event: $event
      contact_id: $contact_id
      answer: $answer
      since: $since
      until: $until
      first: 30
      after: $after
    ) {
      nodes {
        id
        event
        is_test
        status
        webhook_id
        contact_id
        created_at
        next_attempt_at
        delivered_at
        body
        attempts {
          number
          status
          seconds
          error
          body
          attempted_at
        }
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

type Data = ResultOf<typeof Deliveries>;

export type Delivery = Data['webhook_deliveries']['nodes'][number];

export const deliveriesListing: Listing<Data, VariablesOf<typeof Deliveries>, Delivery> = {
  document: Deliveries,
  connectionOf: ({ webhook_deliveries }) => webhook_deliveries,
};

export const FailedPreview = graphql(`
  query WebhookFailedPreview($id: BigInt!, $since: DateTime!) {
    preview_webhook_replay_since(id: $id, status: failed, since: $since) {
      count
      has_more
      refused {
        reason
        count
      }
    }
  }
`);

export const ReplayPreview = graphql(`
  query WebhookReplayPreview($ids: [BigInt!]!) {
    preview_webhook_replay(ids: $ids) {
      count
      refused {
        reason
        count
      }
    }
  }
`);
