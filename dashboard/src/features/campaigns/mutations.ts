import { graphql } from '../../graphql/index.ts';
import { CampaignRow } from './queries.ts';

export const CreateCampaign = graphql(`
  mutation CampaignsCreate($campaign: NewCampaign!, $idempotency_key: String) {
    create_campaign(campaign: $campaign, idempotency_key: $idempotency_key) {
      id
    }
  }
`);

export const UpdateCampaign = graphql(
  `
    mutation CampaignsUpdate($id: BigInt!, $changes: CampaignChanges!, $version: Int!) {
      update_campaign(id: $id, changes: $changes, expected_version: $version) {
        id
        ...CampaignRow
      }
    }
  `,
  [CampaignRow],
);

export const SendCampaign = graphql(
  `
    mutation CampaignsSend(
      $id: BigInt!
      $preview_id: String!
      $max_credits: BigInt!
      $at: DateTime
      $local_at: String
    ) {
      send_campaign(
        id: $id
        preview_id: $preview_id
        max_credits: $max_credits
        at: $at
        local_at: $local_at
        consent_attested: true
      ) {
        id
        ...CampaignRow
      }
    }
  `,
  [CampaignRow],
);

export const SendTestCampaign = graphql(`
  mutation CampaignsTest($id: BigInt!, $to: String!, $idempotency_key: String!) {
    send_test_campaign(id: $id, to: $to, idempotency_key: $idempotency_key, consent_attested: true) {
      segments
      credits_remaining
    }
  }
`);

export const UnscheduleCampaign = graphql(
  `
    mutation CampaignsUnschedule($id: BigInt!) {
      unschedule_campaign(id: $id) {
        id
        ...CampaignRow
      }
    }
  `,
  [CampaignRow],
);

export const PauseCampaign = graphql(`
  mutation CampaignsPause($id: BigInt!) {
    pause_campaign(id: $id) {
      id
      status
      reason
    }
  }
`);

export const ResumeCampaign = graphql(`
  mutation CampaignsResume($id: BigInt!, $max_credits: BigInt, $consent_attested: Boolean) {
    resume_campaign(id: $id, max_credits: $max_credits, consent_attested: $consent_attested) {
      id
      status
      reason
      max_credits
    }
  }
`);

export const CancelCampaign = graphql(`
  mutation CampaignsCancel($id: BigInt!) {
    cancel_campaign(id: $id) {
      canceled
      left
      in_flight
      campaign {
        id
        status
        reason
        ended_at
      }
    }
  }
`);

export const DeleteCampaign = graphql(`
  mutation CampaignsDelete($id: BigInt!) {
    delete_campaign(id: $id) {
      deleted_id
    }
  }
`);
