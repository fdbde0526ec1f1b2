// The numbers that texts leave from, and the connections to carriers that serve them.

import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Badge, Empty, Failure, Page, Phone, Skeleton, Table } from '../../ui/index.ts';
import { Connections } from './Connections.tsx';
import { HEALTH } from './model.ts';
import { Health, Numbers, type PhoneNumber } from './queries.ts';

export function NumbersPage() {
  const [{ data, error }, again] = useQuery({ query: Numbers, requestPolicy: 'cache-and-network' });
  const reload = () => again({ requestPolicy: 'network-only' });
  return (
    <Page title="Numbers">
      {error && <Failure error={error} retry={reload} />}
      {!data && !error && <Skeleton rows={3} />}
      {data?.phone_numbers.length === 0 && (
        <Empty>No number yet. Connect a carrier below, and import its numbers.</Empty>
      )}
      {data && data.phone_numbers.length > 0 && <NumberTable numbers={data.phone_numbers} />}
      <Connections onNumbers={reload} />
    </Page>
  );
}

function NumberTable({ numbers }: { numbers: PhoneNumber[] }) {
  return (
    <Table
      label="Numbers"
      rows={numbers}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Number',
          cell: ({ id, phone_number }) => (
            <Link to="/numbers/$id" params={{ id }}>
              <Phone number={phone_number} />
            </Link>
          ),
        },
        { title: 'Label', cell: ({ label }) => label || '–' },
        { title: 'State', cell: (number) => <NumberState number={number} /> },
        { title: 'Health', cell: ({ id }) => <Score id={id} /> },
        { title: 'Connection', cell: ({ carrier }) => carrier },
        { title: 'Parts a second', isNumber: true, cell: ({ parts_per_second }) => parts_per_second ?? 'no limit' },
      ]}
    />
  );
}

export function NumberState({ number: { is_active, is_primary } }: { number: PhoneNumber }) {
  if (!is_active) return <Badge kind="warn">Paused</Badge>;
  return <Badge kind="good">{is_primary ? 'Active, primary' : 'Active'}</Badge>;
}

function Score({ id }: { id: number }) {
  const [{ data, error }] = useQuery({ query: Health, variables: { id } });
  const health = data?.check_deliverability;
  if (!health) return error ? '–' : '…';
  const { kind, word } = HEALTH[health.state];
  return <Badge kind={kind}>{health.state === 'unknown' ? word : `${health.score} · ${word}`}</Badge>;
}
