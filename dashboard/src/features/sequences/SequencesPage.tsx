// The drip sequences of the account, the newest first.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMay, usePages } from '../../graphql/index.ts';
import { count, Empty, Failure, Icon, More, Page, plural, Skeleton, Table, Time } from '../../ui/index.ts';
import { sequencesListing } from './queries.ts';
import { SequenceState } from './SequenceState.tsx';

export function SequencesPage() {
  const pages = usePages(sequencesListing, {});
  const mayWrite = useMay('campaigns:write');
  const add = mayWrite && (
    <Button
      leftSection={<Icon name="plus" size={16} />}
      renderRoot={(props) => <Link to="/sequences/new" {...props} />}
    >
      New sequence
    </Button>
  );
  const isEmpty = pages.rows.length === 0 && !pages.isLoading && !pages.error;
  return (
    <Page title="Sequences" actions={add}>
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {isEmpty && <Empty>A sequence sends several texts to a person, days apart, until they reply.</Empty>}
      {pages.rows.length > 0 && (
        <Table
          label="Sequences"
          rows={pages.rows}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Name',
              cell: ({ id, name }) => (
                <Link to="/sequences/$id" params={{ id }}>
                  {name}
                </Link>
              ),
            },
            { title: 'State', cell: (row) => <SequenceState status={row.status} /> },
            { title: 'Texts', cell: ({ steps }) => plural(steps.length, 'text') },
            { title: 'Under way', isNumber: true, cell: ({ counts }) => count(counts.active) },
            { title: 'Completed', isNumber: true, cell: ({ counts }) => count(counts.completed) },
            { title: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
        />
      )}
      <More pages={pages} />
    </Page>
  );
}
