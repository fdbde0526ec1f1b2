// The results of a campaign by hour, number, area or number of parts.

import { Button, SegmentedControl } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { type BarRow, Bars, Card, Failure, plural, type Series, Skeleton, timeIn } from '../../ui/index.ts';
import { oneOf } from '../contacts/index.ts';
import styles from './campaigns.module.css';
import { type BreakdownRow, CampaignBreakdown } from './results.ts';
import { GROUPS } from './routes.ts';
import { useLately } from './useLately.ts';

const route = getRouteApi('/campaigns/$id');
const SHOWN = 12;

type Group = (typeof GROUPS)[number];

const LABELS: Record<Group, { choice: string; head: string }> = {
  hour: { choice: 'Hour', head: 'Hour' },
  number: { choice: 'Number', head: 'Sending number' },
  area: { choice: 'Area', head: 'Area code' },
  segments: { choice: 'Parts', head: 'Parts of a text' },
};

const SERIES: Series[] = [
  { name: 'Delivered', tone: 'good' },
  { name: 'Sent', tone: 'doing' },
  { name: 'Failed', tone: 'bad' },
];

const HOUR = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;

export function Breakdown({ id }: { id: number }) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const by = search.by ?? 'hour';
  const [isWhole, setWhole] = useState(false);
  const [{ data: answered, error, operation }, again] = useQuery({
    query: CampaignBreakdown,
    variables: { id, by },
    requestPolicy: 'cache-and-network',
  });
  const data = operation?.variables.by === by ? answered : undefined;
  const reload = () => again({ requestPolicy: 'network-only' });
  useLately((update) => update.__typename === 'CampaignUpdate' && update.campaign?.id === id, reload);
  const choose = (value: string) =>
    void navigate({
      to: '/campaigns/$id',
      params: { id },
      search: { ...search, by: oneOf(GROUPS, value) },
      replace: true,
      resetScroll: false,
    });
  const rows = data?.campaign_breakdown && rowsOf(data.campaign_breakdown, by);
  return (
    <Card title="How it went">
      <SegmentedControl
        mb="sm"
        size="xs"
        aria-label="Grouping"
        data={GROUPS.map((value) => ({ value, label: LABELS[value].choice }))}
        value={by}
        onChange={choose}
      />
      {error && <Failure error={error} retry={reload} />}
      {!rows && !error && <Skeleton rows={3} />}
      {rows?.length === 0 && <p className={styles.soft}>No text has left yet.</p>}
      {rows && rows.length > 0 && (
        <Bars
          label={`Texts by ${LABELS[by].head.toLowerCase()}`}
          caption={captionOf(data?.campaign_breakdown ?? [])}
          group={LABELS[by].head}
          series={SERIES}
          rows={isWhole ? rows : rows.slice(0, SHOWN)}
        />
      )}
      {rows && rows.length > SHOWN && !isWhole && (
        <Button mt="sm" size="xs" variant="default" onClick={() => setWhole(true)}>
          Show all {rows.length}
        </Button>
      )}
    </Card>
  );
}

function rowsOf(found: BreakdownRow[], by: Group): BarRow[] {
  const left = found.filter(({ delivered, sent, failed }) => delivered + sent + failed > 0);
  const ordered = by === 'hour' ? left.sort((one, other) => one.key.localeCompare(other.key)) : left;
  return ordered.map(({ key, delivered, sent, failed }) => ({
    key,
    name: nameOf(key, by),
    values: [delivered, sent, failed],
  }));
}

function nameOf(key: string, by: Group): string {
  if (by === 'segments') return plural(Number(key), 'part');
  if (by !== 'hour') return key || 'Not known';
  return key ? timeIn(HOUR, new Date(key)) : 'Not left';
}

function captionOf(found: BreakdownRow[]): string {
  const sum = (name: 'delivered' | 'failed') => found.reduce((total, row) => total + row[name], 0);
  const final = sum('delivered') + sum('failed');
  if (final === 0) return 'No report is in yet.';
  const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
  return `${share.format(sum('delivered') / final)} of ${plural(final, 'text')} with a report arrived.`;
}
