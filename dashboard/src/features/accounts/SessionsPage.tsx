// The sessions of a person, and for owners those of everybody.

import { Button } from '@mantine/core';
import { useQuery } from 'urql';
import { useViewer } from '../../graphql/index.ts';
import {
  Badge,
  Card,
  ConfirmButton,
  Empty,
  Failure,
  plural,
  Refused,
  Skeleton,
  Table,
  Time,
  useAct,
} from '../../ui/index.ts';
import styles from './accounts.module.css';
import { EndOtherSessions, EndSession } from './mutations.ts';
import { type Session, Sessions } from './queries.ts';
import { SettingsPage } from './SettingsPage.tsx';

export function SessionsPage() {
  const { id: own } = useViewer();
  const [{ data, error }, again] = useQuery({ query: Sessions, requestPolicy: 'cache-and-network' });
  const end = useAct(EndSession);
  const reload = () => again({ requestPolicy: 'network-only' });
  const act = { end: async (id: number) => (await end.run({ id })) && reload(), isBusy: end.isBusy };
  const mine = data?.sessions.filter(({ user_id }) => user_id === own) ?? [];
  const theirs = data?.sessions.filter(({ user_id }) => user_id !== own) ?? [];
  return (
    <SettingsPage title="Sessions">
      {error && <Failure error={error} retry={reload} />}
      {end.refusal && <Refused refusal={end.refusal} />}
      {!data && !error && <Skeleton />}
      {mine.length > 0 && (
        <Card title="Where you are signed in">
          <SessionTable label="Your sessions" sessions={mine} act={act} />
          {mine.length > 1 && <EndOthers others={mine.length - 1} onDone={reload} />}
        </Card>
      )}
      {data && mine.length === 0 && <Empty>You are signed in with no browser.</Empty>}
      {theirs.length > 0 && (
        <Card title="Where others are signed in">
          <SessionTable label="Sessions of others" sessions={theirs} act={act} isNamed />
        </Card>
      )}
    </SettingsPage>
  );
}

interface TableProps {
  label: string;
  sessions: Session[];
  act: { end: (id: number) => void; isBusy: boolean };
  isNamed?: boolean;
}

function SessionTable({ label, sessions, act, isNamed }: TableProps) {
  const person = { title: 'Person', cell: ({ user }: Session) => nameOf(user) };
  return (
    <Table
      label={label}
      rows={sessions}
      keyOf={({ id }) => id}
      columns={[
        ...(isNamed ? [person] : []),
        {
          title: 'Browser',
          cell: ({ device, user_agent, is_current }) => (
            <>
              <span title={user_agent}>{device}</span> {is_current && <Badge kind="good">This browser</Badge>}
            </>
          ),
        },
        { title: 'Address', cell: ({ address }) => <code className={styles.mono}>{address}</code> },
        { title: 'Signed in', cell: ({ created_at }) => <Time at={created_at} /> },
        { title: 'Last active', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
        {
          title: 'Actions',
          cell: ({ id, device, address, is_current }) =>
            !is_current && (
              <Button
                size="compact-sm"
                variant="default"
                disabled={act.isBusy}
                aria-label={`End the session of ${device}, ${address}`}
                onClick={() => act.end(id)}
              >
                End
              </Button>
            ),
        },
      ]}
    />
  );
}

function EndOthers({ others, onDone }: { others: number; onDone: () => void }) {
  const act = useAct(EndOtherSessions);
  const named = plural(others, 'other session');
  return (
    <div className={styles.below}>
      <ConfirmButton
        label={`End ${named}`}
        title={`End ${named}?`}
        act={`End ${named}`}
        state={act}
        run={() => act.run({})}
        onDone={onDone}
      >
        You are signed out everywhere but here. Texts that were typed there and not sent stay in those browsers.
      </ConfirmButton>
    </div>
  );
}

function nameOf(user: Session['user']): string {
  return user ? `${user.first_name} ${user.last_name}`.trim() || user.email : 'A removed person';
}
