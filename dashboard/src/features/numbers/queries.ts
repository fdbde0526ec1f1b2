import { graphql, type ResultOf } from '../../graphql/index.ts';

export const NumberRow = graphql(`
  fragment NumberRow on PhoneNumber @_unmask {
    id
    phone_number
    label
    carrier
    is_primary
    is_active
    parts_per_second
    created_at
  }
`);

export const Numbers = graphql(
  `
    query NumbersPage {
      phone_numbers {
        id
        ...NumberRow
      }
    }
  `,
  [NumberRow],
);

export type PhoneNumber = ResultOf<typeof Numbers>['phone_numbers'][number];

export const Health = graphql(`
  query NumbersHealth($id: BigInt!) {
    check_deliverability(phone_number_id: $id) {
      score
      state
      rate
      deductions {
        code
        points
        text
        fix
      }
    }
  }
`);

export const Spam = graphql(`
  query NumbersSpam($id: BigInt!) {
    check_spam(phone_number_id: $id) {
      flagged
      low_sample
      findings {
        code
        text
        fix
      }
      sources {
        name
        is_asked
        text
      }
    }
  }
`);

export const Rates = graphql(`
  query NumbersRates($id: BigInt!, $by: DeliveryRateGroup!, $days: Int!) {
    delivery_rates(phone_number_id: $id, by: $by, days: $days) {
      key
      sent
      delivered
      failed
      filtered
      unreachable
      refused
      pending
      rate
      is_low_sample
      lower_bound
      upper_bound
    }
  }
`);

export type Rate = NonNullable<ResultOf<typeof Rates>['delivery_rates']>[number];

export const ConnectionRow = graphql(`
  fragment ConnectionRow on CarrierConnection @_unmask {
    id
    key
    kind
    name
    status
    created_at
    status_url
    inbound_url
    settings {
      name
      value
    }
    health {
      last_success_at
      parts_per_second
      peak_parts_per_second
      last_failure {
        at
        result
        code
        carrier_error
      }
      last_hour {
        result
        code
        count
        share
      }
      alerts {
        kind
        since
        text
      }
    }
  }
`);

export const Connections = graphql(
  `
    query NumbersConnections {
      carrier_connections {
        id
        ...ConnectionRow
      }
    }
  `,
  [ConnectionRow],
);

export type CarrierConnection = ResultOf<typeof Connections>['carrier_connections'][number];

export const Kinds = graphql(`
  query NumbersKinds {
    carrier_kinds {
      name
      title
      settings {
        name
        description
        is_required
      }
      credentials {
        name
        description
        is_required
      }
    }
  }
`);

export type CarrierKind = ResultOf<typeof Kinds>['carrier_kinds'][number];

export const Check = graphql(`
  query NumbersCheck($id: BigInt!) {
    carrier_connection_check(id: $id) {
      carrier_account
      facts {
        name
        value
      }
    }
  }
`);
