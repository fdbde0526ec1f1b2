import { graphql } from '../../graphql/index.ts';
import { AutomationRow, KeywordRow } from './queries.ts';

export const CreateAutomation = graphql(`
  mutation AutomationsCreate($automation: AutomationInput!, $idempotency_key: String) {
    create_automation(automation: $automation, idempotency_key: $idempotency_key) {
      id
    }
  }
`);

export const UpdateAutomation = graphql(
  `
    mutation AutomationsUpdate($id: BigInt!, $changes: AutomationChanges!, $version: Int!) {
      update_automation(id: $id, changes: $changes, expected_version: $version) {
        id
        ...AutomationRow
      }
    }
  `,
  [AutomationRow],
);

export const SetStatus = graphql(`
  mutation AutomationsStatus($id: BigInt!, $enabled: Boolean!) {
    set_automation_status(id: $id, enabled: $enabled) {
      id
      status
      next_at
    }
  }
`);

export const DeleteAutomation = graphql(`
  mutation AutomationsDelete($id: BigInt!) {
    delete_automation(id: $id) {
      id
    }
  }
`);

export const Watch = graphql(
  `
    mutation KeywordsWatch($keyword: String!, $rules: KeywordChanges!) {
      watch_keyword(keyword: $keyword, rules: $rules) {
        id
        ...KeywordRow
      }
    }
  `,
  [KeywordRow],
);

export const ChangeKeyword = graphql(
  `
    mutation KeywordsChange($id: BigInt!, $changes: KeywordChanges!) {
      update_keyword(id: $id, changes: $changes) {
        id
        ...KeywordRow
      }
    }
  `,
  [KeywordRow],
);

export const Unwatch = graphql(`
  mutation KeywordsUnwatch($id: BigInt!) {
    unwatch_keyword(id: $id) {
      id
    }
  }
`);
