import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const BillingBalance = graphql(`
  query BillingPage {
    balance {
      balance
      rate
      currency
      daily_avg_send
      estimated_days_left
    }
    tariff {
      generated_copy
      other_destinations
      destinations {
        calling_code
        segment
      }
    }
  }
`);

const Transactions = graphql(`
  query BillingTransactions($type: TransactionType, $after: String) {
    transactions(type: $type, first: 50, after: $after) {
      nodes {
        id
        type
        amount
        balance_after
        description
        created_at
        actor {
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

type Data = ResultOf<typeof Transactions>;

export type Entry = Data['transactions']['nodes'][number];

export const transactionsListing: Listing<Data, VariablesOf<typeof Transactions>, Entry> = {
  document: Transactions,
  connectionOf: ({ transactions }) => transactions,
};
