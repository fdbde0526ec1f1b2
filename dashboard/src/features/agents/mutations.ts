import { graphql } from '../../graphql/index.ts';
import { AgentRow } from './queries.ts';

export const CreateAgent = graphql(`
  mutation AgentsCreate($name: String!, $instructions: String!, $mode: AiAgentMode!, $idempotency_key: String) {
    create_ai_agent(name: $name, instructions: $instructions, mode: $mode, idempotency_key: $idempotency_key) {
      id
    }
  }
`);

export const UpdateAgent = graphql(
  `
    mutation AgentsUpdate($id: BigInt!, $changes: AiAgentChanges!, $version: Int!) {
      update_ai_agent(id: $id, changes: $changes, expected_version: $version) {
        id
        ...AgentRow
      }
    }
  `,
  [AgentRow],
);

export const SetStatus = graphql(`
  mutation AgentsStatus($id: BigInt!, $status: AiAgentStatus!) {
    set_ai_agent_status(id: $id, status: $status) {
      id
      status
    }
  }
`);

export const DeleteAgent = graphql(`
  mutation AgentsDelete($id: BigInt!) {
    delete_ai_agent(id: $id) {
      id
    }
  }
`);

export const AddEntry = graphql(`
  mutation AgentsTeach($agent_id: BigInt!, $kind: AiKnowledgeKind!, $title: String!, $body: String!) {
    add_ai_knowledge(agent_id: $agent_id, kind: $kind, title: $title, body: $body) {
      id
    }
  }
`);

export const RemoveEntry = graphql(`
  mutation AgentsUnteach($id: BigInt!) {
    remove_ai_knowledge(id: $id) {
      id
    }
  }
`);

export const TryAgent = graphql(`
  mutation AgentsTry($id: BigInt!, $body: String!) {
    test_ai_agent(id: $id, body: $body) {
      reply
      credits
      credits_remaining
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
    }
  }
`);

export const ApproveDraft = graphql(`
  mutation AgentsApprove($run_id: BigInt!, $body: String) {
    approve_ai_draft(run_id: $run_id, body: $body) {
      run_id
    }
  }
`);

export const DiscardDraft = graphql(`
  mutation AgentsDiscard($run_id: BigInt!) {
    discard_ai_draft(run_id: $run_id) {
      run_id
    }
  }
`);
