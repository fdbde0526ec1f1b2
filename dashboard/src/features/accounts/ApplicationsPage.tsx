// Applications: those that act for people, and those that the account registered itself.

import { useQuery } from 'urql';
import { useMay, useViewer } from '../../graphql/index.ts';
import { Card, ConfirmButton, Empty, Failure, Skeleton, Table, Time, useAct } from '../../ui/index.ts';
import { Clients } from './Clients.tsx';
import { type Grant, Grants } from './applications.ts';
import { Disconnect } from './applications.ts';
import { ScopeList } from './ScopeList.tsx';
import { SettingsPage } from './SettingsPage.tsx';

export function ApplicationsPage() {
  const isOwner = useMay('account:write');
  const [{ data, error }, again] = useQuery({ query: Grants, requestPolicy: 'cache-and-network' });
  const reload = () => again({ requestPolicy: 'network-only' });
  const grants = data?.oauth_grants.filter(({ revoked_at }) => !revoked_at);
  return (
    <SettingsPage title="Applications">
      <Card title="Connected applications">
        {error && <Failure error={error} retry={reload} />}
        {!grants && !error && <Skeleton rows={3} />}
        {grants?.length === 0 && (
          <Empty>
            No application acts for {isOwner ? 'anybody here' : 'you'}. One is connected from its own pages.
          </Empty>
        )}
        {grants && grants.length > 0 && <GrantTable grants={grants} onChanged={reload} />}
      </Card>
      {isOwner && <Clients />}
    </SettingsPage>
  );
}

function GrantTable({ grants, onChanged }: { grants: Grant[]; onChanged: () => void }) {
  const { id: own } = useViewer();
  const disconnect = useAct(Disconnect);
  return (
    <Table
      label="Connections"
      rows={grants}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Application', cell: ({ client_name }) => <strong dir="auto">{client_name}</strong> },
        { title: 'Acts for', cell: ({ user_id, user }) => (user_id === own ? 'you' : user.email) },
        { title: 'May', cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
        { title: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
        { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
        {
          title: 'Actions',
          cell: ({ id, client_name, user_id, user }) => (
            <ConfirmButton
              label="Disconnect"
              name={`Disconnect ${client_name}`}
              size="compact-sm"
              title={`Disconnect ${client_name}?`}
              act={`Disconnect ${client_name}`}
              state={disconnect}
              run={() => disconnect.run({ id })}
              onDone={onChanged}
            >
              It is refused within seconds, and the keys and webhooks that it made end with it.{' '}
              {user_id === own ? 'You' : user.email} can connect it again.
            </ConfirmButton>
          ),
        },
      ]}
    />
  );
}
