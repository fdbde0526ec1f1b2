// The segments of the account, the newest first.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMay, usePages } from '../../graphql/index.ts';
import { Empty, Failure, Icon, More, Page, Skeleton, Table, Time } from '../../ui/index.ts';
import { segmentsListing } from './queries.ts';

export function SegmentsPage() {
  const pages = usePages(segmentsListing, {});
  const mayWrite = useMay('campaigns:write');
  const add = mayWrite && (
    <Button leftSection={<Icon name="plus" size={16} />} renderRoot={(props) => <Link to="/segments/new" {...props} />}>
      New segment
    </Button>
  );
  const isEmpty = pages.rows.length === 0 && !pages.isLoading && !pages.error;
  return (
    <Page title="Segments" actions={add}>
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {isEmpty && <Empty>A segment is a filter with a name: a campaign reaches the contacts that it has then.</Empty>}
      {pages.rows.length > 0 && (
        <Table
          label="Segments"
          rows={pages.rows}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Name',
              cell: ({ id, name }) => (
                <Link to="/segments/$id" params={{ id }}>
                  {name}
                </Link>
              ),
            },
            { title: 'Conditions', cell: ({ summary }) => summary },
            { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
          ]}
        />
      )}
      <More pages={pages} />
    </Page>
  );
}
