// The signed-in person: name, sessions, and applications that act for them.

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { useMay, useViewer } from '../../graphql/index.ts';
import { Badge, Card, Empty, Failure, Refused, Skeleton, Table, Time, useAct } from '../../ui/index.ts';
import styles from './accounts.module.css';
import { Disconnect, EndSession, UpdateUser } from './mutations.ts';
import { Sessions } from './queries.ts';
import { SettingsPage } from './SettingsPage.tsx';

export function ProfilePage() {
  const { email } = useViewer();
  const mayName = useMay('account:write');
  return (
    <SettingsPage title="You">
      <Card title={email}>
        {mayName && <NameForm />}
        <p>
          <a href="/account">Change your password</a>
        </p>
      </Card>
      <Access />
    </SettingsPage>
  );
}

function NameForm() {
  const { id, first_name, last_name } = useViewer();
  const act = useAct(UpdateUser);
  const [isSaved, setSaved] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const changes = { first_name: String(given.get('first_name')), last_name: String(given.get('last_name')) };
    setSaved((await act.run({ id, changes })) !== undefined);
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput name="first_name" label="First name" defaultValue={first_name} />
      <TextInput name="last_name" label="Last name" defaultValue={last_name} />
      {act.refusal && <Refused refusal={act.refusal} />}
      <div>
        <Button type="submit" loading={act.isBusy}>
          Save the name
        </Button>{' '}
        {isSaved && (
          <span role="status">
            <Badge kind="good">Saved</Badge>
          </span>
        )}
      </div>
    </form>
  );
}

function Access() {
  const { id: own } = useViewer();
  const [{ data, error }, again] = useQuery({ query: Sessions, requestPolicy: 'cache-and-network' });
  const end = useAct(EndSession);
  const disconnect = useAct(Disconnect);
  const refusal = end.refusal ?? disconnect.refusal;
  const reload = () => again({ requestPolicy: 'network-only' });
  if (error) return <Failure error={error} retry={reload} />;
  if (!data) return <Skeleton />;
  const grants = data.oauth_grants.filter(({ user_id, revoked_at }) => user_id === own && !revoked_at);
  return (
    <>
      {refusal && <Refused refusal={refusal} />}
      <Card title="Where you are signed in">
        <Table
          label="Sessions"
          rows={data.sessions.filter(({ user_id }) => user_id === own)}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Browser',
              cell: ({ user_agent }) => <span className={styles.quiet}>{user_agent || 'not known'}</span>,
            },
            { title: 'Address', cell: ({ address }) => address },
            { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
            {
              title: 'Actions',
              cell: ({ id, is_current }) =>
                is_current ? (
                  <Badge kind="good">This browser</Badge>
                ) : (
                  <Button size="compact-xs" variant="subtle" onClick={async () => (await end.run({ id })) && reload()}>
                    End
                  </Button>
                ),
            },
          ]}
        />
      </Card>
      <Card title="Connected applications">
        {grants.length === 0 && <Empty>No application acts for you.</Empty>}
        {grants.length > 0 && (
          <Table
            label="Connected applications"
            rows={grants}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Application', cell: ({ client_name }) => <strong>{client_name}</strong> },
              { title: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
              { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
              {
                title: 'Actions',
                cell: ({ id, client_name }) => (
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    aria-label={`Disconnect ${client_name}`}
                    onClick={async () => (await disconnect.run({ id })) && reload()}
                  >
                    Disconnect
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Card>
    </>
  );
}
