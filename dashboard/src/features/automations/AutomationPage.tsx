// One automation: its runs, each explained, and its editor.

import { Tabs } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { freshOf, useMay } from '../../graphql/index.ts';
import { Absent, Card, ConfirmButton, Page, part, useAct } from '../../ui/index.ts';
import { AutomationState } from './AutomationsPage.tsx';
import { draftOf, inputOf, sends } from './model.ts';
import { DeleteAutomation, SetStatus, UpdateAutomation } from './mutations.ts';
import { type Automation, AutomationOne } from './queries.ts';
import { Runs } from './Runs.tsx';

const Editor = part(async () => (await import('./Editor.tsx')).Editor);
const route = getRouteApi('/automations/$id');

export function AutomationPage() {
  const { id } = route.useParams();
  const [{ data, error, fetching }, again] = useQuery({
    query: AutomationOne,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const automation = data?.automation;
  if (automation) return <Shown automation={automation} />;
  return (
    <Absent title="Automation" isLoading={fetching} error={error} retry={again}>
      There is no such automation.
    </Absent>
  );
}

function Shown({ automation }: { automation: Automation }) {
  const { tab = 'runs' } = route.useSearch();
  const navigate = route.useNavigate();
  const mayWrite = useMay('campaigns:write');
  const mayRead = useMay('contacts:read');
  return (
    <Page
      title={automation.name}
      aside={<AutomationState status={automation.status} />}
      actions={mayWrite && <Actions automation={automation} />}
    >
      <Card>
        <span dir="auto">{automation.summary}</span>
      </Card>
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(value) => void navigate({ search: { tab: value === 'edit' ? value : undefined }, replace: true })}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="runs">Runs</Tabs.Tab>
          {mayWrite && <Tabs.Tab value="edit">Change</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="runs">{mayRead && <Runs automation_id={automation.id} />}</Tabs.Panel>
        <Tabs.Panel value="edit">
          <Suspense>{mayWrite && <Change automation={automation} />}</Suspense>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Change({ automation }: { automation: Automation }) {
  const client = useClient();
  const act = useAct(UpdateAutomation);
  const navigate = route.useNavigate();
  const [begun, setBegun] = useState(automation);
  const [isTouched, setTouched] = useState(false);
  const { id, version } = begun;
  if (automation.version > version && !isTouched) setBegun(automation);
  const renew = async () => {
    const found = await client.query(AutomationOne, { id }, { requestPolicy: 'network-only' });
    const stored = freshOf(found)?.automation;
    if (!stored) return;
    act.forget();
    setTouched(false);
    setBegun(stored);
  };
  return (
    <Editor
      key={version}
      start={draftOf(begun)}
      act="Save; runs under way keep their actions"
      state={act}
      onTouch={() => setTouched(true)}
      onRenew={renew}
      onSave={async (draft) => {
        if (await act.run({ id, changes: inputOf(draft), version })) await navigate({ search: {} });
      }}
    />
  );
}

function Actions({ automation }: { automation: Automation }) {
  const { id, name, status } = automation;
  const navigate = useNavigate();
  const change = useAct(SetStatus);
  const remove = useAct(DeleteAutomation);
  return (
    <>
      {status === 'active' ? (
        <ConfirmButton
          label="Pause"
          title={`Pause ${name}?`}
          act={`Pause ${name}`}
          state={change}
          run={() => change.run({ id, enabled: false })}
        >
          Its runs that wait are canceled, and do not go on when it is activated again.
        </ConfirmButton>
      ) : (
        <ConfirmButton
          label="Activate"
          title={`Activate ${name}?`}
          act={`Activate ${name}`}
          isDangerous={false}
          state={change}
          run={() => change.run({ id, enabled: true })}
        >
          {sends(automation)
            ? 'It sends texts by itself. By activating it you confirm that the people whom it texts agreed to that in writing.'
            : 'It acts by itself from now on.'}
        </ConfirmButton>
      )}
      <ConfirmButton
        label="Delete"
        title={`Delete ${name}?`}
        act={`Delete ${name}`}
        state={remove}
        run={() => remove.run({ id })}
        onDone={() => void navigate({ to: '/automations', ignoreBlocker: true })}
      >
        Its runs are deleted with it, also those that wait. Its changes to contacts stay.
      </ConfirmButton>
    </>
  );
}
