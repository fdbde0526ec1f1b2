import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const AgentRow = graphql(`
  fragment AgentRow on AiAgent @_unmask {
    id
    name
    status
    mode
    persona
    goals
    instructions
    number_ids
    segment_id
    weekdays
    opens_at
    closes_at
    debounce_seconds
    max_messages
    max_unanswered
    max_segments
    daily_limit
    hand_over_to
    hand_over_message
    version
    updated_at
  }
`);

const Agents = graphql(
  `
    query AgentsPage($after: String) {
      ai_agents(first: 50, after: $after) {
        nodes {
          id
          ...AgentRow
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [AgentRow],
);

type AgentsData = ResultOf<typeof Agents>;

export type Agent = AgentsData['ai_agents']['nodes'][number];

export const agentsListing: Listing<AgentsData, VariablesOf<typeof Agents>, Agent> = {
  document: Agents,
  connectionOf: ({ ai_agents }) => ai_agents,
};

export const AgentOne = graphql(
  `
    query AgentPage($id: BigInt!) {
      ai_agent(id: $id) {
        id
        ...AgentRow
      }
    }
  `,
  [AgentRow],
);

const Entries = graphql(`
  query AgentKnowledge($agent_id: BigInt!, $after: String) {
    ai_knowledge(agent_id: $agent_id, first: 50, after: $after) {
      nodes {
        id
        kind
        title
        body
        created_at
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

type EntriesData = ResultOf<typeof Entries>;

export type Entry = NonNullable<EntriesData['ai_knowledge']>['nodes'][number];

export const entriesListing: Listing<EntriesData, VariablesOf<typeof Entries>, Entry> = {
  document: Entries,
  connectionOf: ({ ai_knowledge }) => ai_knowledge ?? NO_ENTRIES,
};

const NO_ENTRIES = { nodes: [], page_info: { has_next_page: false, end_cursor: null } };

const Runs = graphql(`
  query AgentRuns($agent_id: BigInt, $outcome: AiRunOutcome, $after: String) {
    ai_agent_runs(agent_id: $agent_id, outcome: $outcome, first: 30, after: $after) {
      nodes {
        id
        agent_id
        conversation_id
        outcome
        gate
        reason
        draft
        summary
        provider
        model
        credits
        created_at
        ended_at
        gates {
          gate
          action
          reason
        }
        passages {
          title
          text
          score
        }
        decided_by {
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

type RunsData = ResultOf<typeof Runs>;

export type Run = RunsData['ai_agent_runs']['nodes'][number];
export type Verdict = Run['gates'][number];
export type Passage = Run['passages'][number];

export const runsListing: Listing<RunsData, VariablesOf<typeof Runs>, Run> = {
  document: Runs,
  connectionOf: ({ ai_agent_runs }) => ai_agent_runs,
};

export const Ai = graphql(`
  query AgentsAi {
    ai_status {
      is_connected
      provider
      model
      how_to_connect
      credits_per_call
    }
  }
`);

export const NumberChoices = graphql(`
  query AgentsNumbers {
    phone_numbers {
      id
      phone_number
      label
    }
  }
`);

export const SegmentChoices = graphql(`
  query AgentsSegments {
    segments(first: 200) {
      nodes {
        id
        name
      }
    }
  }
`);

export const PeopleChoices = graphql(`
  query AgentsPeople {
    users {
      id
      email
      first_name
      last_name
    }
  }
`);
