// The AI agents of the account, and the drafts that wait for a person.

import { Button, Modal } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay, usePages } from '../../graphql/index.ts';
import { Badge, Empty, Failure, Icon, More, Notice, Page, Skeleton, Table, Time } from '../../ui/index.ts';
import { Drafts } from './Drafts.tsx';
import { labelOf } from './model.ts';
import { NewAgent } from './NewAgent.tsx';
import { type Agent, agentsListing, Ai } from './queries.ts';

export function AgentsPage() {
  const pages = usePages(agentsListing, {});
  const [isAdding, setAdding] = useState(false);
  const add = useMay('agents:write') && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      New agent
    </Button>
  );
  return (
    <Page title="AI agents" actions={pages.rows.length > 0 && add}>
      {useMay('ai:use') && <Connected />}
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty action={add}>
          An AI agent answers texts from what you teach it. Rules that no model decides on say when it may, and it
          drafts for your approval until you choose otherwise.
        </Empty>
      )}
      <Drafts />
      {pages.rows.length > 0 && <AgentTable agents={pages.rows} />}
      <More pages={pages} />
      <Modal opened={isAdding} onClose={() => setAdding(false)} title="New agent" size="lg">
        <NewAgent />
      </Modal>
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

function Connected() {
  const [{ data }] = useQuery({ query: Ai });
  if (!data || data.ai_status.is_connected) return null;
  return (
    <Notice>
      <span>
        No language model is connected: agents answer with the best answer of their FAQ, and hand over the rest.{' '}
        {data.ai_status.how_to_connect}
      </span>
    </Notice>
  );
}
