import { graphql } from '../../graphql/index.ts';

export const ContactMerge = graphql(`
  query ContactMerge($into_id: BigInt!, $from_id: BigInt!, $take: [String!]) {
    preview_merge(into_id: $into_id, from_id: $from_id, take: $take) {
      preview_id
      messages
      problems
      consequences
      fields {
        name
        value
        discarded
      }
    }
  }
`);

export const ContactDuplicates = graphql(`
  query ContactDuplicates($kind: DuplicateKind!, $first: Int!, $after: String) {
    duplicate_contacts(kind: $kind, first: $first, after: $after) {
      value
      cursor
      contacts {
        id
        phone
        first_name
        last_name
        status
        created_at
      }
    }
  }
`);
