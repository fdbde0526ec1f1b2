import { graphql } from '../../graphql/index.ts';
import { TemplateRow } from './queries.ts';

export const CreateTemplate = graphql(
  `
    mutation TemplatesCreate($name: String!, $body: String!, $idempotency_key: String) {
      create_template(name: $name, body: $body, idempotency_key: $idempotency_key) {
        id
        ...TemplateRow
      }
    }
  `,
  [TemplateRow],
);

export const UpdateTemplate = graphql(
  `
    mutation TemplatesUpdate($id: BigInt!, $changes: TemplateChanges!, $version: Int!) {
      update_template(id: $id, changes: $changes, expected_version: $version) {
        id
        ...TemplateRow
      }
    }
  `,
  [TemplateRow],
);

export const DeleteTemplate = graphql(`
  mutation TemplatesDelete($id: BigInt!) {
    delete_template(id: $id) {
      id
    }
  }
`);

export const ComposeCopy = graphql(`
  mutation TextCompose($goal: String!, $tone: String!, $key: String!) {
    compose_copy(goal: $goal, tone: $tone, count: 3, idempotency_key: $key) {
      bodies
      notice
    }
  }
`);
