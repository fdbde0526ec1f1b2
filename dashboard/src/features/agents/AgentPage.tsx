// One AI agent: a chat to try it, what it knows, when it answers, and every decision that it made.

import { Button, Tabs } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Absent, ConfirmButton, Page, part, Refused, useAct } from '../../ui/index.ts';
import { AgentState } from './AgentsPage.tsx';
import { Knowledge } from './Knowledge.tsx';
import { DeleteAgent, SetStatus } from './mutations.ts';
import { type Agent, AgentOne } from './queries.ts';
import { Runs } from './Runs.tsx';
import type { Tab } from './tabs.ts';
import { TestChat } from './TestChat.tsx';

const AgentSettings = part(async () => (await import('./AgentSettings.tsx')).AgentSettings);
const route = getRouteApi('/agents/$id');

export function AgentPage() {
  const { id } = route.useParams();
  const [{ data, error, fetching }, again] = useQuery({
    query: AgentOne,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const agent = data?.ai_agent;
  if (agent) return <Shown agent={agent} />;
  return (
    <Absent title="AI agent" isLoading={fetching} error={error} retry={again}>
      There is no such agent.
    </Absent>
  );
}

function Shown({ agent }: { agent: Agent }) {
  const { tab = 'try' } = route.useSearch();
  const navigate = route.useNavigate();
  const mayWrite = useMay('agents:write');
  return (
    <Page
      title={agent.name}
      aside={<AgentState status={agent.status} />}
      actions={mayWrite && <Actions agent={agent} />}
    >
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(value) => void navigate({ search: { tab: value as Tab }, replace: true })}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="try">Try it</Tabs.Tab>
          <Tabs.Tab value="knowledge">Knowledge</Tabs.Tab>
          <Tabs.Tab value="settings">Settings</Tabs.Tab>
          <Tabs.Tab value="runs">Decisions</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="try">
          <TestChat id={agent.id} />
        </Tabs.Panel>
        <Tabs.Panel value="knowledge">
          <Knowledge agent={agent} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <Suspense>
            <AgentSettings agent={agent} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="runs">
          <Runs agent_id={agent.id} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Actions({ agent: { id, name, status, mode } }: { agent: Agent }) {
  const navigate = useNavigate();
  const change = useAct(SetStatus);
  const remove = useAct(DeleteAgent);
  const sends = mode === 'auto' ? 'It then sends texts by itself.' : 'Nothing is sent without a person.';
  return (
    <>
      {status === 'active' ? (
        <Button variant="default" loading={change.isBusy} onClick={() => void change.run({ id, status: 'paused' })}>
          Pause
        </Button>
      ) : (
        <ConfirmButton
          label="Activate"
          title={`Activate ${name}?`}
          act={`Activate ${name}`}
          isDangerous={false}
          state={change}
          run={() => change.run({ id, status: 'active' })}
        >
          It answers the texts that come in from now on. {sends}
        </ConfirmButton>
      )}
      <ConfirmButton
        label="Delete"
        title={`Delete ${name}?`}
        act={`Delete ${name}`}
        state={remove}
        run={() => remove.run({ id })}
        onDone={() => void navigate({ to: '/agents', ignoreBlocker: true })}
      >
        Its knowledge, decisions and drafts are deleted with it. Texts that it sent stay in their conversations.
      </ConfirmButton>
      {change.refusal && status === 'active' && <Refused refusal={change.refusal} />}
    </>
  );
}
