import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const CampaignAnswers = graphql(`
  query CampaignAnswers($id: BigInt!) {
    campaign_breakdown(id: $id, by: state) {
      key
      recipients
      replies
      opt_outs
      segments
      credits
    }
  }
`);

export const CampaignBreakdown = graphql(`
  query CampaignBreakdown($id: BigInt!, $by: CampaignBreakdownGroup!) {
    campaign_breakdown(id: $id, by: $by) {
      key
      recipients
      sent
      delivered
      failed
      replies
      opt_outs
      segments
      credits
    }
  }
`);

export type BreakdownRow = NonNullable<ResultOf<typeof CampaignBreakdown>['campaign_breakdown']>[number];

export const CampaignDiagnosis = graphql(`
  query CampaignDiagnosis($id: BigInt!) {
    diagnose_campaign(id: $id) {
      code
      verdict
      text
      fix
    }
  }
`);

export type Finding = NonNullable<ResultOf<typeof CampaignDiagnosis>['diagnose_campaign']>[number];

const Recipients = graphql(`
  query CampaignRecipients(
    $id: BigInt!
    $state: RecipientState
    $reason: String
    $answer: RecipientAnswer
    $after: String
  ) {
    campaign_recipients(campaign_id: $id, state: $state, reason: $reason, answer: $answer, first: 50, after: $after) {
      nodes {
        id
        phone
        state
        reason
        description
        segments
        credits
        from_number
        due_at
        sent_at
        settled_at
        replied_at
        opted_out_at
        contact {
          id
          label
        }
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

type Data = ResultOf<typeof Recipients>;

export type Recipient = NonNullable<Data['campaign_recipients']>['nodes'][number];

const NONE = { nodes: [], page_info: { has_next_page: false, end_cursor: null } };

export const recipientsListing: Listing<Data, VariablesOf<typeof Recipients>, Recipient> = {
  document: Recipients,
  connectionOf: ({ campaign_recipients }) => campaign_recipients ?? NONE,
};
