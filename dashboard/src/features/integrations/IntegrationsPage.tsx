// The connections of the account: CRMs, scheduling tools, and inbound webhooks.

import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Badge, Card, Empty, Failure, FormDialog, Refused, Skeleton, Table, Time, useAct } from '../../ui/index.ts';
import { SettingsPage } from '../accounts/index.ts';
import { HookForm } from './HookForm.tsx';
import styles from './integrations.module.css';
import { crmHealthOf, healthOf, WEBHOOK } from './model.ts';
import { ConnectCrm } from './mutations.ts';
import { type Crm, type Integration, type Kind, Overview } from './queries.ts';
import { handOver } from './secrets.ts';
import { ToolForm } from './ToolForm.tsx';

export function IntegrationsPage() {
  const [{ data, error }, again] = useQuery({ query: Overview, requestPolicy: 'cache-and-network' });
  if (!data)
    return (
      <SettingsPage title="Integrations">{error ? <Failure error={error} retry={again} /> : <Skeleton />}</SettingsPage>
    );
  const { integrations, integration_kinds, crm_kinds, crm_connections } = data;
  const tools = integrations.filter(({ kind }) => integration_kinds.some(({ name }) => name === kind));
  return (
    <SettingsPage title="Integrations">
      <Crms kinds={crm_kinds} crms={crm_connections} integrations={integrations} />
      <Tools kinds={integration_kinds} tools={tools} />
      <Hooks hooks={integrations.filter(({ kind }) => kind === WEBHOOK)} />
    </SettingsPage>
  );
}

function Crms({ kinds, crms, integrations }: { kinds: Kind[]; crms: Crm[]; integrations: Integration[] }) {
  const connect = useAct(ConnectCrm);
  const begin = async (kind: string) => {
    const begun = await connect.run({ kind });
    if (begun) window.location.assign(begun.connect_crm.url);
  };
  const titleOf = (kind: string) => kinds.find(({ name }) => name === kind)?.title ?? kind;
  const rows = crms.flatMap((crm) => {
    const integration = integrations.find(({ id }) => id === crm.integration_id);
    return integration ? [{ crm, integration }] : [];
  });
  return (
    <Card title="CRM">
      <p>Contacts, opt-outs and texts are kept the same on both sides.</p>
      {rows.length > 0 && (
        <Table
          label="Connected CRMs"
          rows={rows}
          keyOf={({ integration }) => integration.id}
          columns={[
            { title: 'CRM', cell: ({ crm, integration }) => <To id={integration.id} name={titleOf(crm.kind)} /> },
            { title: 'Account there', cell: ({ crm }) => crm.location },
            {
              title: 'Health',
              cell: ({ crm, integration }) => {
                const { mark, word } = crmHealthOf(crm, integration);
                return <Badge kind={mark}>{word}</Badge>;
              },
            },
            { title: 'Connected', cell: ({ crm }) => <Time at={crm.created_at} /> },
          ]}
        />
      )}
      {connect.refusal && <Refused refusal={connect.refusal} />}
      {kinds.length === 0 && (
        <Empty>
          No CRM can be connected yet. The operator of this service sets up its application at the CRM first:
          docs/connectors.md has the steps.
        </Empty>
      )}
      {kinds.length > 0 && (
        <>
          <p>
            With the connection you attest that the contacts agreed to the texts that the CRM sends. The CRM asks you
            for the permission next.
          </p>
          <div className={styles.acts}>
            {kinds.map(({ name, title }) => (
              <Button key={name} variant="default" loading={connect.isBusy} onClick={() => void begin(name)}>
                Connect {title}
              </Button>
            ))}
          </div>
        </>
      )}
    </Card>
  );
}

function Tools({ kinds, tools }: { kinds: Kind[]; tools: Integration[] }) {
  const [kind, setKind] = useState<Kind>();
  const open = useOpen();
  return (
    <Card title="Scheduling tools">
      <p>A booking sends its confirmation and its reminders, to people who asked for texts in the booking form.</p>
      <IntegrationTable label="Connected tools" rows={tools} />
      <div className={styles.acts}>
        {kinds.map((each) => (
          <Button key={each.name} variant="default" onClick={() => setKind(each)}>
            Add {each.title}
          </Button>
        ))}
      </div>
      <FormDialog isOpen={kind !== undefined} onClose={() => setKind(undefined)} title={`Add ${kind?.title ?? ''}`}>
        {kind && <ToolForm kind={kind} onAdded={open} />}
      </FormDialog>
    </Card>
  );
}

function Hooks({ hooks }: { hooks: Integration[] }) {
  const [isAdding, setAdding] = useState(false);
  const open = useOpen();
  return (
    <Card title="Inbound webhooks">
      <p>
        An address for the posts of a form, a shop or a script, which become contacts, tags, sequences and automations.
      </p>
      <IntegrationTable label="Addresses for senders" rows={hooks} />
      <div className={styles.acts}>
        <Button variant="default" onClick={() => setAdding(true)}>
          Add an inbound webhook
        </Button>
      </div>
      <FormDialog isOpen={isAdding} onClose={() => setAdding(false)} title="Add an inbound webhook">
        <HookForm onAdded={open} />
      </FormDialog>
    </Card>
  );
}

/** Return a function that opens a new integration, whose page shows its secret once. */
function useOpen() {
  const navigate = useNavigate();
  return (id: number, secret: string) => {
    handOver(id, secret);
    void navigate({ to: '/settings/integrations/$id', params: { id } });
  };
}

function IntegrationTable({ label, rows }: { label: string; rows: Integration[] }) {
  if (rows.length === 0) return null;
  return (
    <div className={styles.table}>
      <Table
        label={label}
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', cell: ({ id, name }) => <To id={id} name={name} /> },
          {
            title: 'Health',
            cell: (row) => {
              const { mark, word } = healthOf(row);
              return <Badge kind={mark}>{word}</Badge>;
            },
          },
          { title: 'Last event', cell: ({ last_received_at }) => <Time at={last_received_at} /> },
        ]}
      />
    </div>
  );
}

function To({ id, name }: { id: number; name: string }) {
  return (
    <Link to="/settings/integrations/$id" params={{ id }}>
      {name}
    </Link>
  );
}
