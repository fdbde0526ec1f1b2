import { graphql } from '../../graphql/index.ts';
import { ConnectionRow, NumberRow } from './queries.ts';

export const SetPrimary = graphql(
  `
    mutation NumbersPrimary($id: BigInt!) {
      set_primary_phone_number(id: $id) {
        id
        ...NumberRow
      }
    }
  `,
  [NumberRow],
);

export const SetActive = graphql(
  `
    mutation NumbersActive($id: BigInt!, $active: Boolean!) {
      set_phone_number_active(id: $id, active: $active) {
        id
        ...NumberRow
      }
    }
  `,
  [NumberRow],
);

export const Rename = graphql(
  `
    mutation NumbersRename($id: BigInt!, $label: String!) {
      rename_phone_number(id: $id, label: $label) {
        id
        ...NumberRow
      }
    }
  `,
  [NumberRow],
);

export const SetPace = graphql(
  `
    mutation NumbersPace($id: BigInt!, $pace: Float) {
      set_phone_number_pace(id: $id, parts_per_second: $pace) {
        id
        ...NumberRow
      }
    }
  `,
  [NumberRow],
);

export const Release = graphql(`
  mutation NumbersRelease($id: BigInt!) {
    release_phone_number(id: $id) {
      id
    }
  }
`);

export const AddConnection = graphql(`
  mutation NumbersAddConnection(
    $kind: String!
    $name: String!
    $settings: [CarrierValueInput!]!
    $credentials: [CarrierValueInput!]!
  ) {
    add_carrier_connection(kind: $kind, name: $name, settings: $settings, credentials: $credentials) {
      carrier_account
      connection {
        id
      }
    }
  }
`);

export const Rotate = graphql(`
  mutation NumbersRotate($id: BigInt!, $credentials: [CarrierValueInput!]!) {
    rotate_carrier_connection(id: $id, credentials: $credentials) {
      carrier_account
      connection {
        id
      }
    }
  }
`);

export const PauseConnection = graphql(
  `
    mutation NumbersPauseConnection($id: BigInt!) {
      pause_carrier_connection(id: $id) {
        id
        ...ConnectionRow
      }
    }
  `,
  [ConnectionRow],
);

export const ResumeConnection = graphql(
  `
    mutation NumbersResumeConnection($id: BigInt!) {
      resume_carrier_connection(id: $id) {
        id
        ...ConnectionRow
      }
    }
  `,
  [ConnectionRow],
);

export const RemoveConnection = graphql(`
  mutation NumbersRemoveConnection($id: BigInt!) {
    remove_carrier_connection(id: $id) {
      id
    }
  }
`);

export const ImportNumbers = graphql(`
  mutation NumbersImport($id: BigInt!) {
    sync_phone_numbers(connection_id: $id) {
      added {
        id
        phone_number
      }
      known {
        id
      }
      in_use
    }
  }
`);

export const AddNumber = graphql(`
  mutation NumbersAdd($connection_id: BigInt!, $phone_number: String!, $label: String!) {
    add_phone_number(connection_id: $connection_id, phone_number: $phone_number, label: $label) {
      id
    }
  }
`);
