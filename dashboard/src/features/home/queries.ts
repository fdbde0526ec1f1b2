import { graphql } from '../../graphql/index.ts';

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

export const HomeBalance = graphql(`
  query HomeBalance {
    balance {
      balance
      rate
      currency
      daily_avg_send
      estimated_days_left
    }
  }
`);

export const HomeRates = graphql(`
  query HomeRates($days: Int!) {
    delivery_rates(days: $days, by: hour) {
      key
      sent
      delivered
      failed
      pending
    }
  }
`);

export const HomeTotals = graphql(`
  query HomeTotals($days: Int!) {
    delivery_rates(days: $days) {
      key
      sent
      delivered
      failed
      pending
      rate
      is_low_sample
    }
  }
`);
