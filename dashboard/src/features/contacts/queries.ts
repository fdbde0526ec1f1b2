import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const ContactRow = graphql(`
  fragment ContactRow on Contact @_unmask {
    id
    label
    phone
    first_name
    last_name
    email
    tags
    pipeline_stage
    status
    dnd_sms
    can_send
    blocked_by {
      gate
      reason
    }
    score
    last_message_at
    created_at
  }
`);

export const ContactsPageQuery = graphql(
  `
    query ContactsPage(
      $search: String
      $stage: PipelineStage
      $status: ContactStatus
      $tag: String
      $segment: BigInt
      $sort: ContactSort!
      $after: String
    ) {
      contacts(
        search: $search
        stage: $stage
        status: $status
        tag: $tag
        segment_id: $segment
        sort: $sort
        first: 100
        after: $after
      ) {
        nodes {
          id
          ...ContactRow
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [ContactRow],
);

type Data = ResultOf<typeof ContactsPageQuery>;
const NONE = { nodes: [], page_info: { has_next_page: false, end_cursor: null } };

export type ContactItem = NonNullable<Data['contacts']>['nodes'][number];

export const contactsListing: Listing<Data, VariablesOf<typeof ContactsPageQuery>, ContactItem> = {
  document: ContactsPageQuery,
  connectionOf: ({ contacts }) => contacts ?? NONE,
};

export const ContactsCount = graphql(`
  query ContactsCount($search: String, $stage: PipelineStage, $status: ContactStatus, $tag: String, $segment: BigInt) {
    contacts(search: $search, stage: $stage, status: $status, tag: $tag, segment_id: $segment, first: 1) {
      total_count
      total_is_exact
    }
  }
`);

export const ContactsTags = graphql(`
  query ContactsTags {
    tags {
      name
      contact_count
      contact_count_is_exact
    }
  }
`);

export const ContactsSegments = graphql(`
  query ContactsSegments {
    segments(first: 200) {
      nodes {
        id
        name
      }
    }
  }
`);

export const ContactPageQuery = graphql(
  `
    query ContactPage($id: BigInt!) {
      contact(id: $id) {
        id
        ...ContactRow
        source
        time_zone
        held_until
        line_type
        region
        updated_at
        custom_fields {
          key
          label
          value
        }
        score_reasons {
          reason
          points
        }
        consents {
          id
          kind
          method
          text
          source
          note
          occurred_at
          actor {
            kind
            id
            label
          }
        }
        conversation {
          id
        }
      }
    }
  `,
  [ContactRow],
);

export const ContactAssignee = graphql(`
  query ContactAssignee($id: BigInt!) {
    contact(id: $id) {
      id
      assignee_id
    }
  }
`);

export const ContactUsers = graphql(`
  query ContactUsers {
    users {
      id
      email
      first_name
      last_name
    }
  }
`);

export const ContactSequences = graphql(`
  query ContactSequences {
    sequences(status: active, first: 200) {
      nodes {
        id
        name
      }
    }
  }
`);

export const ContactFields = graphql(`
  query ContactFields {
    custom_fields {
      id
      key
      label
      type
      choices
    }
  }
`);

export const ContactExplained = graphql(`
  query ContactExplained($contact_id: BigInt!, $is_promotional: Boolean!) {
    explain_send(contact_id: $contact_id, body: "Hello", consent_attested: true, is_promotional: $is_promotional) {
      is_allowed
      deferred_until
      time_zones
      gates {
        gate
        verdict
        reason
        remedy
      }
    }
  }
`);

export const JobState = graphql(`
  query ContactsJob($id: BigInt!) {
    job(id: $id) {
      id
      kind
      status
      total
      done
      changed
      failed
      problems
      counts {
        outcome
        count
      }
    }
  }
`);

export const ContactsFound = graphql(`
  query ContactsFound($search: String) {
    contacts(search: $search, first: 20) {
      nodes {
        id
        label
      }
    }
  }
`);
