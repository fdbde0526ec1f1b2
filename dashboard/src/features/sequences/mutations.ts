import { graphql } from '../../graphql/index.ts';
import { SequenceRow } from './queries.ts';

export const CreateSequence = graphql(`
  mutation SequencesCreate(
    $name: String!
    $steps: [NewSequenceStep!]!
    $exits: SequenceExitsInput!
    $window: SequenceWindowInput
    $re_enroll_after_days: Int
    $skips_refused: Boolean!
    $idempotency_key: String!
  ) {
    create_sequence(
      name: $name
      steps: $steps
      exits: $exits
      window: $window
      re_enroll_after_days: $re_enroll_after_days
      skips_refused: $skips_refused
      idempotency_key: $idempotency_key
    ) {
      id
    }
  }
`);

export const UpdateSequence = graphql(
  `
    mutation SequencesUpdate($id: BigInt!, $changes: SequenceChanges!, $migrate: Boolean!, $version: Int!) {
      update_sequence(id: $id, changes: $changes, migrate: $migrate, expected_version: $version) {
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
      version
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

export const PauseEnrollment = graphql(`
  mutation SequencesPauseOne($enrollment_id: BigInt!) {
    pause_enrollment(enrollment_id: $enrollment_id) {
      id
      is_paused
    }
  }
`);

export const ResumeEnrollment = graphql(`
  mutation SequencesResumeOne($enrollment_id: BigInt!) {
    resume_enrollment(enrollment_id: $enrollment_id) {
      id
      is_paused
    }
  }
`);
