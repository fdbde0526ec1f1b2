import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const SequenceRow = graphql(`
  fragment SequenceRow on Sequence @_unmask {
    id
    name
    status
    created_at
    steps {
      position
      delay_days
      delay_minutes
      at
      body
    }
  }
`);

const Sequences = graphql(
  `
    query SequencesPage($after: String) {
      sequences(first: 50, after: $after) {
        nodes {
          id
          ...SequenceRow
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [SequenceRow],
);

type Data = ResultOf<typeof Sequences>;

export type Sequence = Data['sequences']['nodes'][number];

export const sequencesListing: Listing<Data, VariablesOf<typeof Sequences>, Sequence> = {
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

export const SequenceFigures = graphql(`
  query SequenceFigures($id: BigInt!) {
    active: enrollments(sequence_id: $id, status: active, first: 1) {
      total_count
      total_is_exact
    }
    completed: enrollments(sequence_id: $id, status: completed, first: 1) {
      total_count
      total_is_exact
    }
    exited: enrollments(sequence_id: $id, status: exited, first: 1) {
      total_count
      total_is_exact
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
