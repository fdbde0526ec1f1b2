import { graphql } from '../../graphql/index.ts';
import { IntegrationRow } from './queries.ts';

export const ConnectCrm = graphql(`
  mutation IntegrationsConnect($kind: String!) {
    connect_crm(kind: $kind) {
      url
    }
  }
`);

export const Synchronize = graphql(`
  mutation IntegrationsSynchronize($id: BigInt!) {
    synchronize_crm(integration_id: $id) {
      integration_id
    }
  }
`);

export const AddTool = graphql(`
  mutation IntegrationsAdd($kind: String!, $secret: String!, $name: String!) {
    add_integration(kind: $kind, secret: $secret, name: $name) {
      id
    }
  }
`);

export const AddHook = graphql(`
  mutation IntegrationsAddHook($name: String!, $actions: WebhookActionsInput!) {
    add_inbound_webhook(name: $name, actions: $actions) {
      secret
      webhook {
        id
      }
    }
  }
`);

export const UpdateHook = graphql(`
  mutation IntegrationsUpdateHook($id: BigInt!, $actions: WebhookActionsInput!) {
    update_inbound_webhook(id: $id, actions: $actions) {
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

export const UpdateTool = graphql(
  `
    mutation IntegrationsUpdate($id: BigInt!, $changes: IntegrationChanges!) {
      update_integration(id: $id, changes: $changes) {
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
    }
  `,
  [IntegrationRow],
);

export const Pause = graphql(
  `
    mutation IntegrationsPause($id: BigInt!) {
      pause_integration(id: $id) {
        id
        ...IntegrationRow
      }
    }
  `,
  [IntegrationRow],
);

export const Resume = graphql(
  `
    mutation IntegrationsResume($id: BigInt!) {
      resume_integration(id: $id) {
        id
        ...IntegrationRow
      }
    }
  `,
  [IntegrationRow],
);

export const Rotate = graphql(`
  mutation IntegrationsRotate($id: BigInt!, $secret: String!) {
    rotate_integration_secret(id: $id, secret: $secret, overlap_hours: 24) {
      id
    }
  }
`);

export const Remove = graphql(`
  mutation IntegrationsRemove($id: BigInt!) {
    remove_integration(id: $id) {
      id
    }
  }
`);

export const ReplayEvent = graphql(`
  mutation IntegrationsReplayEvent($id: BigInt!) {
    replay_integration_event(id: $id) {
      id
    }
  }
`);

export const ReplayPush = graphql(`
  mutation IntegrationsReplayPush($id: BigInt!) {
    replay_crm_push(id: $id) {
      id
    }
  }
`);
