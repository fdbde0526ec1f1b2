import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const IntegrationRow = graphql(`
  fragment IntegrationRow on Integration @_unmask {
    id
    kind
    name
    status
    url
    received
    refused
    failed
    last_received_at
    last_refused_at
    last_error
    last_error_at
    creator_ended_at
    created_at
  }
`);

export const ConnectedCrmRow = graphql(`
  fragment ConnectedCrmRow on ConnectedCrm @_unmask {
    integration_id
    kind
    location
    state
    error
    error_at
    resting_until
    sync
    fetched
    total
    offered
    created_at
  }
`);

export const Overview = graphql(
  `
    query IntegrationsPage {
      integrations {
        id
        ...IntegrationRow
      }
      integration_kinds {
        name
        title
      }
      crm_kinds {
        name
        title
      }
      crm_connections {
        ...ConnectedCrmRow
      }
    }
  `,
  [IntegrationRow, ConnectedCrmRow],
);

export const One = graphql(
  `
    query IntegrationPage($id: BigInt!) {
      integration(id: $id) {
        id
        ...IntegrationRow
        phone_number_id
        consent_question
        texts {
          kind
          body
          is_default
        }
      }
      integration_kinds {
        name
        title
      }
      crm_kinds {
        name
        title
      }
      crm_connections {
        ...ConnectedCrmRow
      }
    }
  `,
  [IntegrationRow, ConnectedCrmRow],
);

export const Hooks = graphql(`
  query IntegrationHooks {
    inbound_webhooks {
      id
      phone
      first_name
      last_name
      email
      custom_fields {
        key
        path
      }
      tags
      sequence_id
      automation_id
    }
  }
`);

export const Choices = graphql(`
  query IntegrationChoices {
    sequences(first: 200) {
      nodes {
        id
        name
      }
    }
    automations(first: 200) {
      nodes {
        id
        name
      }
    }
  }
`);

export const NumberChoices = graphql(`
  query IntegrationNumbers {
    phone_numbers {
      id
      phone_number
    }
  }
`);

export const TestHook = graphql(`
  query IntegrationTest($id: BigInt!, $body: String!) {
    test_inbound_webhook(id: $id, body: $body) {
      picked {
        name
        value
      }
      result
      error
    }
  }
`);

const Events = graphql(`
  query IntegrationEvents($integration_id: BigInt!, $status: IntegrationEventStatus, $after: String) {
    integration_events(integration_id: $integration_id, status: $status, first: 20, after: $after) {
      nodes {
        id
        event
        status
        result
        body
        contact_id
        received_at
        applied_at
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

const Pushes = graphql(`
  query IntegrationPushes($integration_id: BigInt!, $status: CrmPushStatus, $after: String) {
    crm_pushes(integration_id: $integration_id, status: $status, first: 20, after: $after) {
      nodes {
        id
        kind
        status
        reason
        contact_id
        external_id
        due_at
        done_at
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

const Bookings = graphql(`
  query IntegrationBookings($status: BookingStatus, $after: String) {
    bookings(status: $status, first: 20, after: $after) {
      nodes {
        id
        integration_id
        status
        starts_at
        time_zone
        name
        phone
        title
        consent
        contact {
          id
          label
        }
        texts {
          kind
          due_at
          status
          reason
        }
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

export type Integration = ResultOf<typeof Overview>['integrations'][number];
export type Whole = NonNullable<ResultOf<typeof One>['integration']>;
export type Crm = ResultOf<typeof Overview>['crm_connections'][number];
export type Kind = ResultOf<typeof Overview>['crm_kinds'][number];
export type Hook = ResultOf<typeof Hooks>['inbound_webhooks'][number];

type EventsData = ResultOf<typeof Events>;
type PushesData = ResultOf<typeof Pushes>;
type BookingsData = ResultOf<typeof Bookings>;

export type IntegrationEvent = EventsData['integration_events']['nodes'][number];
export type Push = PushesData['crm_pushes']['nodes'][number];
export type Booking = BookingsData['bookings']['nodes'][number];

export const eventsListing: Listing<EventsData, VariablesOf<typeof Events>, IntegrationEvent> = {
  document: Events,
  connectionOf: ({ integration_events }) => integration_events,
};

export const pushesListing: Listing<PushesData, VariablesOf<typeof Pushes>, Push> = {
  document: Pushes,
  connectionOf: ({ crm_pushes }) => crm_pushes,
};

export const bookingsListing: Listing<BookingsData, VariablesOf<typeof Bookings>, Booking> = {
  document: Bookings,
  connectionOf: ({ bookings }) => bookings,
};
