// The campaigns of the account, the newest first.

import { Button } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMay, usePages } from '../../graphql/index.ts';
import { count, Empty, Failure, Icon, More, Page, Skeleton, Table, Time, useNewDialog } from '../../ui/index.ts';
import { CampaignState } from './CampaignState.tsx';
import { Filters } from './Filters.tsx';
import { progressOf } from './model.ts';
import { NewCampaign } from './NewCampaign.tsx';
import { type CampaignItem, campaignsListing } from './queries.ts';
import type { CampaignsSearch } from './routes.ts';
import { useLately } from './useLately.ts';

const route = getRouteApi('/campaigns');

export function CampaignsPage() {
  const filter = route.useSearch();
  const navigate = useNavigate();
  const pages = usePages(campaignsListing, filter);
  const [isAdding, setAdding] = useNewDialog();
  const mayWrite = useMay('campaigns:write');
  useLately((update) => update.__typename === 'CampaignUpdate', pages.refresh);
  const setFilter = (search: CampaignsSearch) => void navigate({ to: '/campaigns', search, replace: true });
  const isFiltered = Boolean(filter.search || filter.status);
  const isEmpty = pages.rows.length === 0 && !pages.isLoading && !pages.error;
  const add = mayWrite && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      New campaign
    </Button>
  );
  return (
    <Page title="Campaigns" actions={add}>
      <Filters filter={filter} onChange={setFilter} />
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {isEmpty && !isFiltered && <Empty>A campaign sends one text to many people, with their names in it.</Empty>}
      {isEmpty && isFiltered && (
        <Empty action={<Link to="/campaigns">Show all campaigns</Link>}>No campaign matches.</Empty>
      )}
      {pages.rows.length > 0 && <List rows={pages.rows} />}
      <More pages={pages} />
      <NewCampaign isOpen={isAdding} onClose={() => setAdding(false)} />
    </Page>
  );
}

function List({ rows }: { rows: CampaignItem[] }) {
  return (
    <Table
      label="Campaigns"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Name',
          cell: ({ id, name }) => (
            <Link to="/campaigns/$id" params={{ id }}>
              {name}
            </Link>
          ),
        },
        { title: 'State', cell: (row) => <CampaignState status={row.status} /> },
        { title: 'People', isNumber: true, cell: ({ counts }) => figure(progressOf(counts).people, counts) },
        {
          title: 'Delivered',
          isNumber: true,
          cell: ({ counts }) => figure(progressOf(counts).states.delivered, counts),
        },
        { title: 'Failed', isNumber: true, cell: ({ counts }) => figure(progressOf(counts).states.failed, counts) },
        { title: 'When', cell: (row) => <When campaign={row} /> },
      ]}
    />
  );
}

function When({ campaign: { status, counts, scheduled_at, sent_at, updated_at } }: { campaign: CampaignItem }) {
  if (status === 'draft') return <>Changed {<Time at={updated_at} />}</>;
  if (status === 'scheduled') return <>Starts {<Time at={scheduled_at} full />}</>;
  if (status === 'sending') return <>{progressOf(counts).percent}% done</>;
  return sent_at ? <Time at={sent_at} full /> : <>–</>;
}

function figure(value: number, counts: CampaignItem['counts']): string {
  return counts.length > 0 ? count(value) : '–';
}
