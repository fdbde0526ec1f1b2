// The people who are or were in a sequence, with the reason why they left it.

import { SegmentedControl } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Pages, useMay } from '../../graphql/index.ts';
import { Card, Confirm, Empty, Failure, More, Skeleton, Table, useAct } from '../../ui/index.ts';
import { oneOf } from '../contacts/index.ts';
import { Acts, LABELS, Next, State, When } from './EnrollmentCells.tsx';
import { Unenroll } from './mutations.ts';
import type { Enrollment, Sequence } from './queries.ts';
import { STATES } from './routes.ts';

const route = getRouteApi('/sequences/$id');

interface EnrollmentsProps {
  pages: Pages<Enrollment>;
  sequence: Sequence;
  status?: (typeof STATES)[number];
  onChange: () => void;
}

export function Enrollments({ pages, sequence, status, onChange }: EnrollmentsProps) {
  const navigate = route.useNavigate();
  const act = useAct(Unenroll);
  const [leaving, setLeaving] = useState<Enrollment>();
  const maySend = useMay('campaigns:send');
  const choose = (value: string) =>
    void navigate({ search: (old) => ({ ...old, status: oneOf(STATES, value) }), replace: true });
  const leave = async () => {
    if (!leaving || !(await act.run({ enrollment_id: leaving.id }))) return;
    setLeaving(undefined);
    onChange();
  };
  return (
    <Card title="People in it">
      <SegmentedControl
        mb="sm"
        size="xs"
        aria-label="State of the people"
        value={status ?? 'any'}
        onChange={choose}
        data={[{ value: 'any', label: 'All' }, ...STATES.map((value) => ({ value, label: LABELS[value] }))]}
      />
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton rows={3} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty>{status ? 'Nobody is in this state.' : 'Nobody is enrolled yet.'}</Empty>
      )}
      {pages.rows.length > 0 && (
        <Table
          label="People in the sequence"
          rows={pages.rows}
          keyOf={(row) => row.id}
          columns={[
            {
              title: 'Contact',
              cell: ({ contact }) => (
                <Link to="/contacts/$id" params={{ id: contact.id }}>
                  {contact.label}
                </Link>
              ),
            },
            { title: 'State', cell: (row) => <State row={row} /> },
            { title: 'Next', cell: (row) => <Next row={row} sequence={sequence} /> },
            { title: 'When', cell: (row) => <When row={row} /> },
            {
              title: 'Actions',
              cell: (row) =>
                maySend &&
                row.status === 'active' && <Acts row={row} onChange={onChange} onEnd={() => setLeaving(row)} />,
            },
          ]}
        />
      )}
      <More pages={pages} />
      <Confirm
        title={`End ${sequence.name} for ${leaving?.contact.label}?`}
        act={`End it for ${leaving?.contact.label}`}
        isOpen={leaving !== undefined}
        isBusy={act.isBusy}
        refusal={act.refusal}
        onClose={() => setLeaving(undefined)}
        onConfirm={() => void leave()}
      >
        They get none of the texts that are left. They can be enrolled again, from the first text on.
      </Confirm>
    </Card>
  );
}
