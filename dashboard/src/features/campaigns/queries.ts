import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const CampaignRow = graphql(`
  fragment CampaignRow on Campaign @_unmask {
    id
    name
    status
    body
    scheduled_at
    sent_at
    ended_at
    created_at
    reason
    is_smart_encoded
    audience {
      everyone
      tags
      stage
      segment_id
      contact_ids
    }
    counts {
      state
      reason
      recipients
      segments
      credits
    }
  }
`);

const Campaigns = graphql(
  `
    query CampaignsPage($after: String) {
      campaigns(first: 50, after: $after) {
        nodes {
          id
          ...CampaignRow
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [CampaignRow],
);

type Data = ResultOf<typeof Campaigns>;

export type Campaign = Data['campaigns']['nodes'][number];

export const campaignsListing: Listing<Data, VariablesOf<typeof Campaigns>, Campaign> = {
  document: Campaigns,
  connectionOf: ({ campaigns }) => campaigns,
};

export const CampaignOne = graphql(
  `
    query CampaignPage($id: BigInt!) {
      campaign(id: $id) {
        id
        ...CampaignRow
      }
    }
  `,
  [CampaignRow],
);

export const CampaignTags = graphql(`
  query CampaignTags {
    tags {
      name
    }
  }
`);

export const CampaignPreview = graphql(`
  query CampaignPreview($id: BigInt!) {
    preview_campaign(id: $id) {
      preview_id
      audience
      recipients
      segments
      credits
      cost
      currency
      excluded {
        reason
        count
      }
      histogram {
        segments
        count
      }
      findings {
        rule
        text
        advice
      }
      samples {
        contact_id
        phone
        body
        encoding
        segments
        credits
        missing
      }
    }
  }
`);
