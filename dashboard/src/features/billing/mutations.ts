import { graphql } from '../../graphql/index.ts';

export const TopUp = graphql(`
  mutation BillingTopUp($credits: BigInt!, $idempotency_key: String) {
    top_up(credits: $credits, idempotency_key: $idempotency_key) {
      id
      status
      credits
      amount
      decimals
      currency
      url
    }
  }
`);

export const StartPlan = graphql(`
  mutation BillingStartPlan($plan: String!) {
    start_plan(plan: $plan) {
      url
    }
  }
`);

export const EndPlan = graphql(`
  mutation BillingEndPlan($id: BigInt!) {
    end_plan(id: $id) {
      id
      status
      is_ending
      period_end
    }
  }
`);

export const OpenPortal = graphql(`
  mutation BillingPortal {
    open_payment_portal {
      url
    }
  }
`);

export const SetLowBalance = graphql(`
  mutation BillingLowBalance($credits: BigInt) {
    set_low_balance(credits: $credits) {
      low_balance
      is_low
    }
  }
`);
