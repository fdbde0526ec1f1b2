// The webhooks of the account: where events are posted to, and whether they arrive.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import type { ResultOf } from '../../graphql/index.ts';
import { Badge, Card, Empty, Failure, FormDialog, Secret, Skeleton, Table, Time } from '../../ui/index.ts';
import { figures } from './model.ts';
import { WebhooksList } from './queries.ts';
import { WebhookForm } from './WebhookForm.tsx';

type Row = ResultOf<typeof WebhooksList>['webhooks'][number];

export function Webhooks() {
  const [{ data, error }, again] = useQuery({ query: WebhooksList, requestPolicy: 'cache-and-network' });
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const rows = data?.webhooks.filter(({ status }) => status !== 'removed');
  return (
    <section aria-label="Webhooks" style={{ marginTop: 32 }}>
      <div style={{ display: 'flex', justifyContent: 'space-between', marginBottom: 12 }}>
        <h2 style={{ margin: 0, fontSize: 20 }}>Webhooks</h2>
        <Button variant="default" onClick={() => setAdding(true)}>
          New webhook
        </Button>
      </div>
      {secret && (
        <Card title="The secret of the webhook">
          <p>
            It signs every delivery after Standard Webhooks. It can be shown again; the audit log names each person who
            shows it.
          </p>
          <Secret value={secret} label="Secret" />
          <Button variant="default" size="xs" onClick={() => setSecret(undefined)}>
            I stored it
          </Button>
        </Card>
      )}
      {error && <Failure error={error} retry={again} />}
      {!rows && !error && <Skeleton rows={3} />}
      {rows?.length === 0 && (
        <Empty>No webhook yet. A webhook posts events, such as a text that came in, to your address.</Empty>
      )}
      {rows && rows.length > 0 && <WebhookTable rows={rows} />}
      <FormDialog isOpen={isAdding} onClose={() => setAdding(false)} title="New webhook">
        <WebhookForm
          onDone={(made) => {
            setSecret(made);
            setAdding(false);
            again({ requestPolicy: 'network-only' });
          }}
        />
      </FormDialog>
    </section>
  );
}

function WebhookTable({ rows }: { rows: Row[] }) {
  return (
    <Table
      label="Addresses of webhooks"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Address',
          cell: ({ id, target_url, description }) => (
            <>
              <Link to="/settings/keys/webhooks/$id" params={{ id }}>
                {target_url}
              </Link>
              {description && <div>{description}</div>}
            </>
          ),
        },
        { title: 'Events', cell: ({ events }) => <span title={events.join(', ')}>{events.length}</span> },
        { title: 'State', cell: (row) => <WebhookState webhook={row} /> },
        { title: 'Last 24 hours, without tests', cell: ({ stats }) => figures(stats) },
        { title: 'Last success', cell: ({ last_success_at }) => <Time at={last_success_at} /> },
      ]}
    />
  );
}

export function WebhookState({
  webhook: { status, failing_since },
}: {
  webhook: Pick<Row, 'status' | 'failing_since'>;
}) {
  if (status === 'disabled') return <Badge>Disabled</Badge>;
  return failing_since ? <Badge kind="bad">Failing</Badge> : <Badge kind="good">Active</Badge>;
}
