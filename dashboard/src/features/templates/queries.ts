import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const TemplateRow = graphql(`
  fragment TemplateRow on Template @_unmask {
    id
    name
    body
    version
    updated_at
  }
`);

const Templates = graphql(
  `
    query TemplatesPage($search: String, $after: String) {
      templates(search: $search, first: 50, after: $after) {
        nodes {
          id
          ...TemplateRow
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [TemplateRow],
);

type Data = ResultOf<typeof Templates>;

export type Template = Data['templates']['nodes'][number];

export const templatesListing: Listing<Data, VariablesOf<typeof Templates>, Template> = {
  document: Templates,
  connectionOf: ({ templates }) => templates,
};

export const TemplateOne = graphql(
  `
    query TemplatePage($id: BigInt!) {
      template(id: $id) {
        id
        ...TemplateRow
      }
    }
  `,
  [TemplateRow],
);

export const TextMeasured = graphql(`
  query TextMeasured($body: String!) {
    measure_text(body: $body, template: true) {
      is_smart_encoded
      body {
        as_typed {
          encoding
          segments
          credits
        }
        smart_encoded {
          encoding
          segments
          credits
        }
        costly_characters {
          character
          name
          replacement
        }
      }
      longest {
        as_typed {
          segments
        }
        smart_encoded {
          segments
        }
      }
      longest_ucs_2 {
        as_typed {
          segments
        }
        smart_encoded {
          segments
        }
      }
    }
  }
`);

export const TextChecked = graphql(`
  query TextChecked($body: String!, $first_promotional: Boolean!) {
    check_text(body: $body, template: true, first_promotional: $first_promotional) {
      rule
      severity
      text
      advice
      position
    }
  }
`);

export const TextPlaceholders = graphql(`
  query TextPlaceholders {
    placeholders {
      name
      description
      example
      filters
      fallback
    }
  }
`);

export const TextPreviewed = graphql(`
  query TextPreviewed($body: String!, $contact_id: BigInt!, $is_smart_encoded: Boolean) {
    preview_text(body: $body, contact_id: $contact_id, is_smart_encoded: $is_smart_encoded) {
      body
      encoding
      segments
      credits
      missing
    }
  }
`);
