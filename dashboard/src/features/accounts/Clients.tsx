// The account's own OAuth clients: applications that its people can connect.

import { Button } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import {
  Badge,
  Card,
  ConfirmButton,
  Empty,
  Facts,
  Failure,
  FormDialog,
  Secret,
  Skeleton,
  Table,
  Time,
  useAct,
} from '../../ui/index.ts';
import styles from './accounts.module.css';
import { type OauthClient, OwnClients, RevokeClient, RotateSecret, TakeOver } from './applications.ts';
import { ClientForm } from './ClientForm.tsx';
import { ScopeList } from './ScopeList.tsx';

export interface Made {
  client_id: string;
  client_secret: string | null;
}

export function Clients() {
  const [{ data, error }, again] = useQuery({ query: OwnClients, requestPolicy: 'cache-and-network' });
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState<Made>();
  const reload = () => again({ requestPolicy: 'network-only' });
  const show = (client: Made) => {
    setMade(client);
    setAdding(false);
    reload();
  };
  return (
    <Card
      title="Your own applications"
      action={
        <Button size="xs" variant="default" ml="auto" onClick={() => setAdding(true)}>
          Register an application
        </Button>
      }
    >
      <p>A program of yours that asks people of this account for permission by OAuth, in place of a key.</p>
      {made && <Credentials made={made} onStored={() => setMade(undefined)} />}
      {error && <Failure error={error} retry={reload} />}
      {!data && !error && <Skeleton rows={3} />}
      {data?.oauth_clients.length === 0 && <Empty>No application is registered yet.</Empty>}
      {data && data.oauth_clients.length > 0 && (
        <ClientTable clients={data.oauth_clients} onMade={show} onChanged={reload} />
      )}
      <FormDialog isOpen={isAdding} onClose={() => setAdding(false)} title="Register an application" size="lg">
        <ClientForm onMade={show} />
      </FormDialog>
    </Card>
  );
}

function Credentials({ made: { client_id, client_secret }, onStored }: { made: Made; onStored: () => void }) {
  return (
    <section aria-label="The credentials of the application" className={styles.made}>
      <Facts rows={[['Client id', <code key="id">{client_id}</code>]]} />
      {client_secret && (
        <>
          <p>The secret is shown this once. Copy it to where it is used; it cannot be read here again.</p>
          <Secret value={client_secret} label="Client secret" />
        </>
      )}
      <Button variant="default" size="xs" onClick={onStored}>
        I stored it
      </Button>
    </section>
  );
}

interface TableProps {
  clients: OauthClient[];
  onMade: (made: Made) => void;
  onChanged: () => void;
}

function ClientTable({ clients, onMade, onChanged }: TableProps) {
  return (
    <Table
      label="Registered applications"
      rows={clients}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Application',
          cell: ({ name, client_id, redirect_uris }) => (
            <>
              <strong>{name}</strong>
              <div className={styles.quiet}>{client_id}</div>
              {redirect_uris.map((uri) => (
                <div key={uri} className={styles.quiet}>
                  {uri}
                </div>
              ))}
            </>
          ),
        },
        { title: 'May ask for', cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
        { title: 'Ends with', cell: ({ creator }) => creator.user?.email ?? creator.label },
        { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
        {
          title: 'Actions',
          cell: (client) =>
            client.revoked_at ? (
              <Badge kind="bad">Revoked</Badge>
            ) : (
              <Actions client={client} onMade={onMade} onChanged={onChanged} />
            ),
        },
      ]}
    />
  );
}

function Actions({
  client: { id, name, confidential },
  onMade,
  onChanged,
}: { client: OauthClient } & Omit<TableProps, 'clients'>) {
  const rotate = useAct(RotateSecret);
  const take = useAct(TakeOver);
  const revoke = useAct(RevokeClient);
  const rotated = async () => {
    const made = await rotate.run({ id });
    if (made) onMade(made.rotate_oauth_client_secret);
    return made;
  };
  return (
    <div className={styles.acts}>
      {confidential && (
        <ConfirmButton
          label="Rotate"
          name={`Rotate the secret of ${name}`}
          size="compact-sm"
          title={`Give ${name} a new secret?`}
          act="Create a new secret"
          state={rotate}
          run={rotated}
        >
          The present secret stops working at once. People who connected it stay connected.
        </ConfirmButton>
      )}
      <ConfirmButton
        label="Take over"
        name={`Take over ${name}`}
        size="compact-sm"
        isDangerous={false}
        title={`Take over ${name}?`}
        act={`Take over ${name}`}
        state={take}
        run={() => take.run({ id })}
        onDone={onChanged}
      >
        From then on it ends with you, not with its maker. Its secret still ends with the person who made the secret.
      </ConfirmButton>
      <ConfirmButton
        label="Revoke"
        name={`Revoke ${name}`}
        size="compact-sm"
        title={`Revoke ${name}?`}
        act={`Revoke ${name}`}
        state={revoke}
        run={() => revoke.run({ id })}
        onDone={onChanged}
      >
        Everybody who connected it is disconnected within seconds. This cannot be undone.
      </ConfirmButton>
    </div>
  );
}
