import { graphql } from '../../graphql/index.ts';
import { SequenceRow } from './queries.ts';

export const CreateSequence = graphql(
  `
    mutation SequencesCreate($name: String!, $steps: [NewSequenceStep!]!) {
      create_sequence(name: $name, steps: $steps) {
        id
        ...SequenceRow
      }
    }
  `,
  [SequenceRow],
);

export const UpdateStatus = graphql(`
  mutation SequencesStatus($id: BigInt!, $status: SequenceStatus!) {
    update_sequence_status(id: $id, status: $status) {
      id
      status
    }
  }
`);

export const Enroll = graphql(`
  mutation SequencesEnroll($id: BigInt!, $contact_id: BigInt!, $consent_attested: Boolean!, $key: String!) {
    enroll(sequence_id: $id, contact_id: $contact_id, consent_attested: $consent_attested, idempotency_key: $key) {
      enrollment_id
      next_send_at
      already_enrolled
    }
  }
`);

export const Unenroll = graphql(`
  mutation SequencesUnenroll($enrollment_id: BigInt!) {
    unenroll(enrollment_id: $enrollment_id) {
      id
      status
    }
  }
`);
