import { graphql } from '../../graphql/index.ts';
import { WebhookRow } from './queries.ts';

export const CreateWebhook = graphql(`
  mutation WebhooksCreate($target_url: String!, $events: [String!]!, $description: String!, $idempotency_key: String) {
    create_webhook(
      target_url: $target_url
      events: $events
      description: $description
      idempotency_key: $idempotency_key
    ) {
      id
      secret
    }
  }
`);

export const UpdateWebhook = graphql(
  `
    mutation WebhooksUpdate($id: BigInt!, $changes: WebhookChanges!, $version: Int) {
      update_webhook(id: $id, changes: $changes, expected_version: $version) {
        id
        ...WebhookRow
      }
    }
  `,
  [WebhookRow],
);

export const RemoveWebhook = graphql(`
  mutation WebhooksRemove($id: BigInt!, $kind: WebhookKind) {
    unsubscribe(id: $id, kind: $kind) {
      id
      status
    }
  }
`);

export const SendTest = graphql(`
  mutation WebhooksTest($id: BigInt!, $event: String) {
    send_test_webhook(id: $id, event: $event) {
      id
    }
  }
`);

export const Replay = graphql(`
  mutation WebhooksReplay($id: BigInt!) {
    replay_webhook_delivery(id: $id) {
      id
      status
    }
  }
`);

export const ReplayChosen = graphql(`
  mutation WebhooksReplayChosen($ids: [BigInt!]!) {
    replay_chosen_webhook_deliveries(ids: $ids) {
      count
    }
  }
`);

export const ReplayFailed = graphql(`
  mutation WebhooksReplayFailed($id: BigInt!, $since: DateTime!) {
    replay_webhook_deliveries(id: $id, status: failed, since: $since) {
      count
      has_more
    }
  }
`);

export const RotateSecret = graphql(`
  mutation WebhooksRotate($id: BigInt!) {
    rotate_webhook_secret(id: $id, overlap_hours: 24) {
      secret
    }
  }
`);

export const RevealSecret = graphql(`
  mutation WebhooksReveal($id: BigInt!) {
    reveal_webhook_secret(id: $id) {
      secret
    }
  }
`);
