import { graphql } from '../../graphql/index.ts';
import { CampaignRow } from './queries.ts';

export const CreateCampaign = graphql(`
  mutation CampaignsCreate($campaign: NewCampaign!) {
    create_campaign(campaign: $campaign) {
      id
    }
  }
`);

export const UpdateCampaign = graphql(
  `
    mutation CampaignsUpdate($id: BigInt!, $changes: CampaignChanges!) {
      update_campaign(id: $id, changes: $changes) {
        id
        ...CampaignRow
      }
    }
  `,
  [CampaignRow],
);

export const SendCampaign = graphql(
  `
    mutation CampaignsSend($id: BigInt!, $preview_id: String!, $max_credits: BigInt!) {
      send_campaign(id: $id, preview_id: $preview_id, max_credits: $max_credits, consent_attested: true) {
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
    }
  }
`);

export const CancelCampaign = graphql(`
  mutation CampaignsCancel($id: BigInt!) {
    cancel_campaign(id: $id) {
      canceled
      campaign {
        id
        status
      }
    }
  }
`);
