// Billing: the credits, what a text costs, and the ledger.

import { Button, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { type ResultOf, usePages } from '../../graphql/index.ts';
import {
  Badge,
  Card,
  count,
  Empty,
  Facts,
  Failure,
  money,
  Page,
  plural,
  Skeleton,
  Table,
  Time,
  words,
} from '../../ui/index.ts';
import { BillingBalance, type Entry, transactionsListing } from './queries.ts';

const KINDS = ['debit', 'refund', 'purchase', 'adjustment'] as const;
const ENDLESS = 9999;

export function BillingPage() {
  const [{ data, error }, again] = useQuery({ query: BillingBalance, requestPolicy: 'cache-and-network' });
  return (
    <Page title="Billing">
      {error && <Failure error={error} retry={again} />}
      {!data && !error && <Skeleton rows={4} />}
      {data && <Credits {...data} />}
      <Ledger />
    </Page>
  );
}

function Credits({ balance: held, tariff }: ResultOf<typeof BillingBalance>) {
  const { balance, rate, currency, daily_avg_send, estimated_days_left } = held;
  const days = estimated_days_left >= ENDLESS ? 'more than a year' : plural(estimated_days_left, 'day');
  const priced = tariff.destinations.map(({ calling_code, segment }) => `+${calling_code}: ${count(segment)}`);
  return (
    <Card title="Credits">
      <Facts
        rows={[
          ['Held', <strong key="held">{count(balance)}</strong>],
          ['Worth', `${money(balance * rate, currency)}, at ${money(rate, currency)} a credit`],
          ['Left for', `${days}, at ${count(daily_avg_send)} a day`],
          ['Credits of an SMS part', [...priced, `elsewhere: ${count(tariff.other_destinations)}`].join(' · ')],
          ['Credits of a generated text', count(tariff.generated_copy)],
        ]}
      />
    </Card>
  );
}

function Ledger() {
  const [kind, setKind] = useState('all');
  const type = KINDS.find((each) => each === kind) ?? null;
  const pages = usePages(transactionsListing, { type });
  return (
    <>
      <SegmentedControl
        mb="sm"
        size="xs"
        aria-label="Kind of entry"
        value={kind}
        onChange={setKind}
        data={[{ value: 'all', label: 'All' }, ...KINDS.map((value) => ({ value, label: words(value) }))]}
      />
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 &&
        (pages.isLoading ? <Skeleton /> : <Empty>No entry yet. Every credit that comes or goes is listed here.</Empty>)}
      {pages.rows.length > 0 && <Entries rows={pages.rows} />}
      {pages.hasMore && (
        <Button mt="sm" variant="default" loading={pages.isLoading} onClick={pages.more}>
          Earlier entries
        </Button>
      )}
    </>
  );
}

function Entries({ rows }: { rows: Entry[] }) {
  return (
    <Table
      label="Ledger"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: 'When', cell: ({ created_at }) => <Time at={created_at} full /> },
        { title: 'What', cell: ({ type }) => <Badge kind={type === 'debit' ? 'plain' : 'good'}>{words(type)}</Badge> },
        { title: 'For', cell: ({ description }) => description },
        { title: 'By', cell: ({ actor }) => actor.label },
        { title: 'Credits', isNumber: true, cell: ({ amount }) => `${amount > 0 ? '+' : ''}${count(amount)}` },
        { title: 'Balance', isNumber: true, cell: ({ balance_after }) => count(balance_after) },
      ]}
    />
  );
}
