// The work towards a CRM: what was refused with its reason, and can be tried again.

import { Button, SegmentedControl } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePages } from '../../graphql/index.ts';
import {
  Badge,
  Card,
  Empty,
  Failure,
  type Kind,
  More,
  Refused,
  Skeleton,
  Table,
  Time,
  useAct,
} from '../../ui/index.ts';
import { ReplayPush } from './mutations.ts';
import { type Push, pushesListing } from './queries.ts';

const KINDS: Record<Push['kind'], string> = {
  contact: 'Contact to the CRM',
  check: 'Contact from the CRM',
  inbound: 'Text of a contact',
  copy: 'Copy of a sent text',
  delivered: 'Report: delivered',
  failed: 'Report: failed',
};
const STATES: Record<Push['status'], { mark: Kind; word: string }> = {
  waiting: { mark: 'warn', word: 'Waiting' },
  done: { mark: 'good', word: 'Done' },
  failed: { mark: 'bad', word: 'Refused' },
};
const SHOWN = [
  { value: 'failed', label: 'Refused' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'all', label: 'All' },
];

export function Pushes({ integration_id }: { integration_id: number }) {
  const [shown, setShown] = useState('failed');
  const status = shown === 'all' ? null : (shown as Push['status']);
  const pages = usePages(pushesListing, { integration_id, status });
  const replay = useAct(ReplayPush);
  const again = async (id: number) => {
    if (await replay.run({ id })) pages.refresh();
  };
  return (
    <Card title="Changes for the CRM">
      <SegmentedControl mb="sm" aria-label="Changes shown" data={SHOWN} value={shown} onChange={setShown} />
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {replay.refusal && <Refused refusal={replay.refusal} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton rows={3} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty>{shown === 'failed' ? 'The CRM has refused nothing.' : 'There are none.'}</Empty>
      )}
      {pages.rows.length > 0 && (
        <Table
          label="Changes"
          rows={pages.rows}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Change', cell: ({ kind }) => KINDS[kind] },
            {
              title: 'State',
              cell: (push) => <Badge kind={STATES[push.status].mark}>{STATES[push.status].word}</Badge>,
            },
            { title: 'Reason', cell: ({ reason }) => reason || '–' },
            { title: 'Contact', cell: ({ contact_id }) => (contact_id === null ? '–' : <Contact id={contact_id} />) },
            { title: 'When', cell: ({ done_at, due_at }) => <Time at={done_at ?? due_at} full /> },
            {
              title: 'Actions',
              cell: ({ id, status: state }) =>
                state === 'failed' && (
                  <Button size="compact-sm" variant="default" disabled={replay.isBusy} onClick={() => void again(id)}>
                    Try again
                  </Button>
                ),
            },
          ]}
        />
      )}
      <More pages={pages} />
    </Card>
  );
}

function Contact({ id }: { id: number }) {
  return (
    <Link to="/contacts/$id" params={{ id }}>
      Open
    </Link>
  );
}
