import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const BillingPageQuery = graphql(`
  query BillingPage {
    balance {
      balance
      rate
      currency
      daily_avg_send
      estimated_days_left
      low_balance
    }
    billing_status {
      state
      is_online
      how_to
      plans {
        name
        credits
        amount
        decimals
        currency
      }
    }
    tariff {
      generated_copy
      other_destinations
      destinations {
        calling_code
        segment
      }
    }
    plan_subscriptions {
      id
      plan
      credits
      amount
      decimals
      currency
      status
      is_ending
      period_end
    }
  }
`);

export type Billing = ResultOf<typeof BillingPageQuery>;

export const BillingMethod = graphql(`
  query BillingMethod {
    payment_method {
      is_configured
      kind
      brand
      last_four
      expires_month
      expires_year
    }
  }
`);

export const BillingSpend = graphql(`
  query BillingSpend($days: Int!, $group_by: SpendGroup!) {
    spend_history(days: $days, group_by: $group_by) {
      points {
        start
        spent
        debited
        refunded
      }
    }
    by_kind: spend_history(days: $days, group_by: kind) {
      spent
      points {
        kind
        spent
      }
    }
  }
`);

export type Spend = ResultOf<typeof BillingSpend>;

const Payments = graphql(`
  query BillingPayments($after: String) {
    payments(first: 10, after: $after) {
      nodes {
        id
        status
        description
        credits
        amount
        decimals
        currency
        refunded
        created_at
        paid_at
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

/** The pages on which pending payments are paid, for those who may pay. */
export const PaymentPages = graphql(`
  query BillingPaymentPages {
    payments(first: 50) {
      nodes {
        id
        url
      }
    }
  }
`);

type PaymentData = ResultOf<typeof Payments>;

export type Payment = PaymentData['payments']['nodes'][number];

export const paymentsListing: Listing<PaymentData, VariablesOf<typeof Payments>, Payment> = {
  document: Payments,
  connectionOf: ({ payments }) => payments,
};

const EntryRow = graphql(`
  fragment EntryRow on Transaction @_unmask {
    id
    type
    amount
    balance_after
    description
    message_id
    created_at
    actor {
      kind
      id
      label
    }
  }
`);

const Transactions = graphql(
  `
    query BillingTransactions(
      $type: TransactionType
      $since: DateTime
      $until: DateTime
      $campaign_id: BigInt
      $after: String
    ) {
      transactions(type: $type, since: $since, until: $until, campaign_id: $campaign_id, first: 50, after: $after) {
        nodes {
          id
          ...EntryRow
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [EntryRow],
);

/** The ledger for those who may read texts: each entry leads to its text. */
const TransactionsOfTexts = graphql(
  `
    query BillingTransactionsOfTexts(
      $type: TransactionType
      $since: DateTime
      $until: DateTime
      $campaign_id: BigInt
      $after: String
    ) {
      transactions(type: $type, since: $since, until: $until, campaign_id: $campaign_id, first: 50, after: $after) {
        nodes {
          id
          ...EntryRow
          message {
            id
            conversation_id
          }
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [EntryRow],
);

type Row = ResultOf<typeof Transactions>['transactions']['nodes'][number];

export type Entry = Row & { message?: { id: number; conversation_id: number } | null };

interface Data {
  transactions: { nodes: Entry[]; page_info: ResultOf<typeof Transactions>['transactions']['page_info'] };
}

type Listed = Listing<Data, VariablesOf<typeof Transactions>, Entry>;

const connectionOf: Listed['connectionOf'] = ({ transactions }) => transactions;

export const ledgerListing: Listed = { document: Transactions, connectionOf };
export const textLedgerListing: Listed = { document: TransactionsOfTexts, connectionOf };

export const BillingCampaigns = graphql(`
  query BillingCampaigns($search: String) {
    campaigns(search: $search, first: 20) {
      nodes {
        id
        name
      }
    }
  }
`);

export const BillingCampaign = graphql(`
  query BillingCampaign($id: BigInt!) {
    campaign(id: $id) {
      id
      name
    }
  }
`);
