import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

const Trigger = graphql(`
  fragment Trigger on AutomationTrigger @_unmask {
    kind
    event
    where {
      field
      op
      value
    }
    hours
    field
    at
    weekdays
  }
`);

const Action = graphql(`
  fragment Action on AutomationAction @_unmask {
    kind
    body
    tag
    stage
    user_id
    sequence_id
    text
    minutes
  }
`);

export const AutomationRow = graphql(
  `
    fragment AutomationRow on Automation @_unmask {
      id
      name
      status
      trigger {
        ...Trigger
      }
      actions {
        ...Action
      }
      filter
      summary
      next_at
      version
      updated_at
    }
  `,
  [Trigger, Action],
);

const Automations = graphql(
  `
    query AutomationsPage($after: String) {
      automations(first: 50, after: $after) {
        nodes {
          id
          ...AutomationRow
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [AutomationRow],
);

type Data = ResultOf<typeof Automations>;

export type Automation = Data['automations']['nodes'][number];

export const automationsListing: Listing<Data, VariablesOf<typeof Automations>, Automation> = {
  document: Automations,
  connectionOf: ({ automations }) => automations,
};

export const AutomationOne = graphql(
  `
    query AutomationPage($id: BigInt!) {
      automation(id: $id) {
        id
        ...AutomationRow
      }
    }
  `,
  [AutomationRow],
);

export const Templates = graphql(
  `
    query AutomationTemplates {
      automation_templates {
        key
        name
        description
        trigger {
          ...Trigger
        }
        actions {
          ...Action
        }
      }
    }
  `,
  [Trigger, Action],
);

const Runs = graphql(`
  query AutomationRuns($automation_id: BigInt!, $status: AutomationRunStatus, $after: String) {
    automation_runs(automation_id: $automation_id, status: $status, first: 30, after: $after) {
      nodes {
        id
        status
        reason
        attempts
        due_at
        created_at
        ended_at
        contact_id
        contact {
          id
          label
        }
        conditions {
          condition
          value
          holds
        }
        results {
          action
          outcome
          code
          text
        }
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

type RunsData = ResultOf<typeof Runs>;

export type Run = RunsData['automation_runs']['nodes'][number];

export const runsListing: Listing<RunsData, VariablesOf<typeof Runs>, Run> = {
  document: Runs,
  connectionOf: ({ automation_runs }) => automation_runs,
};

export const DateFields = graphql(`
  query AutomationsDateFields {
    custom_fields {
      id
      key
      label
      type
    }
  }
`);

export const PeopleChoices = graphql(`
  query AutomationsPeople {
    users {
      id
      email
      first_name
      last_name
    }
  }
`);

export const SequenceChoices = graphql(`
  query AutomationsSequences {
    sequences(first: 200) {
      nodes {
        id
        name
      }
    }
  }
`);

export const KeywordRow = graphql(`
  fragment KeywordRow on WatchedKeyword @_unmask {
    id
    keyword
    match
    phone_number_id
    is_active
    opts_in
    double_opt_in
    opt_in_tag
    reply
    hits
    created_at
  }
`);

export const Keywords = graphql(
  `
    query KeywordsPage {
      watched_keywords {
        id
        ...KeywordRow
      }
    }
  `,
  [KeywordRow],
);

export type Keyword = ResultOf<typeof Keywords>['watched_keywords'][number];

export const NumberChoices = graphql(`
  query KeywordsNumbers {
    phone_numbers {
      id
      phone_number
    }
  }
`);
