// The AI agents of the account, and the drafts that wait for a person.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { useMay, usePages } from '../../graphql/index.ts';
import {
  Badge,
  Empty,
  Failure,
  FormDialog,
  Icon,
  More,
  Notice,
  Page,
  Skeleton,
  Table,
  Time,
  useNewDialog,
} from '../../ui/index.ts';
import styles from './agents.module.css';
import { Drafts } from './Drafts.tsx';
import { labelOf } from './model.ts';
import { NewAgent } from './NewAgent.tsx';
import { type Agent, agentsListing, Ai } from './queries.ts';

export function AgentsPage() {
  const pages = usePages(agentsListing, {});
  const [isAdding, setAdding] = useNewDialog();
  const [{ data, fetching }] = useQuery({ query: Ai, pause: !useMay('ai:use') });
  const isLoading = fetching || (pages.rows.length === 0 && pages.isLoading);
  const add = useMay('agents:write') && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      New agent
    </Button>
  );
  return (
    <Page title="AI agents" actions={add}>
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {isLoading && <Skeleton />}
      {!isLoading && data && !data.ai_status.is_connected && (
        <Notice>
          <span>{data.ai_status.how_to_connect}</span>
        </Notice>
      )}
      {pages.rows.length === 0 && !isLoading && !pages.error && (
        <Empty>
          An AI agent answers texts from what you teach it. Rules outside the model decide when it may answer, and it
          drafts for your approval until you choose otherwise.
        </Empty>
      )}
      {pages.rows.length > 0 && !isLoading && <AgentTable agents={pages.rows} />}
      <More pages={pages} />
      <div className={styles.below}>{!isLoading && <Drafts />}</div>
      <FormDialog isOpen={isAdding} onClose={() => setAdding(false)} title="New agent" size="lg">
        <NewAgent />
      </FormDialog>
    </Page>
  );
}

function AgentTable({ agents }: { agents: Agent[] }) {
  return (
    <Table
      label="AI agents"
      rows={agents}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Name',
          cell: ({ id, name }) => (
            <Link to="/agents/$id" params={{ id }}>
              {name}
            </Link>
          ),
        },
        { title: 'State', cell: ({ status }) => <AgentState status={status} /> },
        { title: 'Mode', cell: ({ mode }) => labelOf(mode) },
        {
          title: 'Answers at',
          cell: ({ number_ids }) => (number_ids.length === 0 ? 'All numbers' : number_ids.length),
        },
        { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} full /> },
      ]}
    />
  );
}

export function AgentState({ status }: { status: Agent['status'] }) {
  return status === 'active' ? <Badge kind="good">Active</Badge> : <Badge>Paused</Badge>;
}
