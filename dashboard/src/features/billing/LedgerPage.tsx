// The ledger: every credit that came or went, filtered by the address.

import { Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMay, usePages } from '../../graphql/index.ts';
import {
  Badge,
  count,
  DateField,
  Empty,
  Failure,
  midnight,
  More,
  Page,
  Skeleton,
  Table,
  Time,
  words,
} from '../../ui/index.ts';
import { useNames } from '../conversations/index.ts';
import styles from './billing.module.css';
import { CampaignFilter } from './CampaignFilter.tsx';
import { type Entry, ledgerListing, textLedgerListing } from './queries.ts';
import { type LedgerSearch, TYPES } from './search.ts';

const route = getRouteApi('/billing/transactions');

export function LedgerPage() {
  const filter = route.useSearch();
  const { type, from, to, campaign } = filter;
  const mayReadTexts = useMay('messages:read');
  const pages = usePages(mayReadTexts ? textLedgerListing : ledgerListing, {
    type: type ?? null,
    since: from ? midnight(from) : null,
    until: to ? midnight(to, 1) : null,
    campaign_id: campaign ?? null,
  });
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <Page title="Transactions" aside={<Link to="/billing">Billing</Link>}>
      <Filters filter={filter} />
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty action={isFiltered && <Link to="/billing/transactions">Show all transactions</Link>}>
          {isFiltered
            ? 'No transaction matches.'
            : 'No transaction yet. Every credit that comes or goes is listed here.'}
        </Empty>
      )}
      {pages.rows.length > 0 && <Entries rows={pages.rows} />}
      <More pages={pages} />
    </Page>
  );
}

function Filters({ filter }: { filter: LedgerSearch }) {
  const navigate = route.useNavigate();
  const mayReadCampaigns = useMay('campaigns:read');
  const set = (changes: LedgerSearch) => void navigate({ search: (old) => ({ ...old, ...changes }), replace: true });
  return (
    <div className={styles.filters}>
      <Select
        label="Kind"
        w={150}
        clearable
        placeholder="Any"
        clearButtonProps={{ 'aria-label': 'Any kind' }}
        data={TYPES.map((value) => ({ value, label: words(value) }))}
        value={filter.type ?? null}
        onChange={(value) => set({ type: TYPES.find((each) => each === value) })}
      />
      <DateField label="From" value={filter.from ?? ''} onChange={(value) => set({ from: value || undefined })} />
      <DateField label="To" value={filter.to ?? ''} onChange={(value) => set({ to: value || undefined })} />
      {mayReadCampaigns && <CampaignFilter id={filter.campaign} onChange={(campaign) => set({ campaign })} />}
    </div>
  );
}

function Entries({ rows }: { rows: Entry[] }) {
  const names = useNames();
  return (
    <Table
      label="Transactions"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: 'When', cell: ({ created_at }) => <Time at={created_at} full /> },
        { title: 'Kind', cell: ({ type }) => <Badge kind={type === 'debit' ? 'plain' : 'good'}>{words(type)}</Badge> },
        { title: 'For', isHead: true, cell: (entry) => <Purpose entry={entry} /> },
        { title: 'By', cell: ({ actor }) => names(actor) },
        { title: 'Credits', isNumber: true, cell: ({ amount }) => `${amount > 0 ? '+' : ''}${count(amount)}` },
        { title: 'Balance', isNumber: true, cell: ({ balance_after }) => count(balance_after) },
      ]}
    />
  );
}

function Purpose({ entry: { description, message } }: { entry: Entry }) {
  const mayReadConversations = useMay('conversations:read');
  if (!message || !mayReadConversations) return description;
  return (
    <Link to="/inbox/$view/$id" params={{ view: 'open', id: message.conversation_id }}>
      {description || 'The text'}
    </Link>
  );
}
