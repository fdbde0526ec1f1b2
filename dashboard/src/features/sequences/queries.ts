import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const SequenceRow = graphql(`
  fragment SequenceRow on Sequence @_unmask {
    id
    name
    status
    version
    steps_version
    re_enroll_after_days
    skips_refused
    created_at
    exits {
      on_reply
      stages
      tags
    }
    window {
      start
      end
      weekdays
    }
    steps {
      key
      position
      delay_days
      delay_minutes
      at
      body
      waiting_count
      sent_count
    }
    counts {
      active
      paused
      finishing
      completed
      exited
      exits {
        reason
        count
      }
    }
    older_versions {
      steps_version
      active_count
    }
  }
`);

const Sequences = graphql(`
  query SequencesPage($after: String) {
    sequences(first: 50, after: $after) {
      nodes {
        id
        name
        status
        created_at
        steps {
          position
        }
        counts {
          active
          completed
        }
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

type Data = ResultOf<typeof Sequences>;

export type SequenceItem = Data['sequences']['nodes'][number];

export const sequencesListing: Listing<Data, VariablesOf<typeof Sequences>, SequenceItem> = {
  document: Sequences,
  connectionOf: ({ sequences }) => sequences,
};

export const SequenceOne = graphql(
  `
    query SequencePage($id: BigInt!) {
      sequence(id: $id) {
        id
        ...SequenceRow
      }
    }
  `,
  [SequenceRow],
);

export type Sequence = NonNullable<ResultOf<typeof SequenceOne>['sequence']>;

export const SequenceTags = graphql(`
  query SequenceTags {
    tags {
      name
    }
  }
`);

const Enrollments = graphql(`
  query SequenceEnrollments($id: BigInt!, $status: EnrollmentStatus, $after: String) {
    enrollments(sequence_id: $id, status: $status, first: 50, after: $after) {
      nodes {
        id
        status
        exit_reason
        position
        steps_version
        is_paused
        paused_until
        next_send_at
        created_at
        ended_at
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

type Enrolled = ResultOf<typeof Enrollments>;

export type Enrollment = NonNullable<Enrolled['enrollments']>['nodes'][number];

const NONE = { nodes: [], page_info: { has_next_page: false, end_cursor: null } };

export const enrollmentsListing: Listing<Enrolled, VariablesOf<typeof Enrollments>, Enrollment> = {
  document: Enrollments,
  connectionOf: ({ enrollments }) => enrollments ?? NONE,
};

const SequenceTextRow = graphql(`
  fragment SequenceTextRow on SequenceText @_unmask {
    key
    send_at
    body
    encoding
    segments
    credits
    missing
  }
`);

export const SequencePreviewed = graphql(
  `
    query SequencePreviewed($id: BigInt!, $contact_id: BigInt!) {
      preview_sequence(id: $id, contact_id: $contact_id) {
        ...SequenceTextRow
      }
    }
  `,
  [SequenceTextRow],
);

export const DraftPreviewed = graphql(
  `
    query SequenceDraftPreviewed($steps: [NewSequenceStep!]!, $window: SequenceWindowInput, $contact_id: BigInt!) {
      preview_sequence_draft(steps: $steps, window: $window, contact_id: $contact_id) {
        ...SequenceTextRow
      }
    }
  `,
  [SequenceTextRow],
);
