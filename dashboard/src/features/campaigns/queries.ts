import { CampaignProgress, graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const CampaignRow = graphql(
  `
    fragment CampaignRow on Campaign @_unmask {
      id
      version
      name
      body
      phone_number_id
      is_smart_encoded
      is_strict
      max_credits
      created_at
      updated_at
      creator {
        kind
        id
        label
      }
      audience {
        everyone
        tags
        stage
        contact_ids
        segment_id
        excluded_tags
        excluded_segment_id
        requires_consent
        skips_live_conversations
      }
      ...CampaignProgress
    }
  `,
  [CampaignProgress],
);

const Campaigns = graphql(
  `
    query CampaignsPage($search: String, $status: CampaignStatus, $after: String) {
      campaigns(search: $search, status: $status, first: 50, after: $after) {
        nodes {
          id
          name
          updated_at
          ...CampaignProgress
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [CampaignProgress],
);

type Data = ResultOf<typeof Campaigns>;

export type CampaignItem = Data['campaigns']['nodes'][number];

export const campaignsListing: Listing<Data, VariablesOf<typeof Campaigns>, CampaignItem> = {
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

export type Campaign = NonNullable<ResultOf<typeof CampaignOne>['campaign']>;

export const CampaignTags = graphql(`
  query CampaignTags {
    tags {
      name
    }
  }
`);

export const CampaignNumbers = graphql(`
  query CampaignNumbers {
    phone_numbers {
      id
      phone_number
      label
      is_active
    }
  }
`);
