// The delivery rates of the texts of a number, by the group that a person chooses.

import { Select } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Card, count, Failure, percent, Skeleton, Table } from '../../ui/index.ts';
import { type Rate, Rates } from './queries.ts';

const DAYS = 30;

const GROUPS = [
  { value: 'carrier', label: 'by connection' },
  { value: 'region', label: 'by calling code' },
  { value: 'segments', label: 'by number of parts' },
  { value: 'hour', label: 'by hour of the day (UTC)' },
] as const;

const route = getRouteApi('/numbers/$id');

export function DeliveryCard({ id }: { id: number }) {
  const wanted = route.useSearch({ select: (search) => search.by });
  const navigate = route.useNavigate();
  const by = GROUPS.find(({ value }) => value === wanted)?.value ?? 'carrier';
  const [{ data, error }, again] = useQuery({
    query: Rates,
    variables: { id, by, days: DAYS },
    requestPolicy: 'cache-and-network',
  });
  const rows = data?.delivery_rates;
  return (
    <Card title={`Delivery, last ${DAYS} days`}>
      <Select
        aria-label="Group"
        w={240}
        mb="sm"
        allowDeselect={false}
        data={[...GROUPS]}
        value={by}
        onChange={(next) => void navigate({ search: { by: next ?? undefined }, replace: true, resetScroll: false })}
      />
      {error && <Failure error={error} retry={again} />}
      {!rows && !error && <Skeleton rows={2} />}
      {rows?.length === 0 && <p>No text left from this number in these days.</p>}
      {rows && rows.length > 0 && <RateTable rows={rows} />}
    </Card>
  );
}

function RateTable({ rows }: { rows: Rate[] }) {
  return (
    <Table
      label="Delivery"
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        { title: 'Group', cell: ({ key }) => key },
        { title: 'Sent', isNumber: true, cell: ({ sent }) => count(sent) },
        { title: 'Delivered', isNumber: true, cell: ({ delivered }) => count(delivered) },
        { title: 'Failed', isNumber: true, cell: ({ failed }) => count(failed) },
        { title: 'Filtered', isNumber: true, cell: ({ filtered }) => count(filtered) },
        { title: 'Unreachable', isNumber: true, cell: ({ unreachable }) => count(unreachable) },
        { title: 'Waiting', isNumber: true, cell: ({ pending }) => count(pending) },
        { title: 'Rate', isNumber: true, cell: (row) => <span title={rangeOf(row)}>{rateOf(row)}</span> },
      ]}
    />
  );
}

function rateOf({ rate, is_low_sample }: Rate): string {
  if (rate === null) return '–';
  return is_low_sample ? `${percent(rate)} (few)` : percent(rate);
}

function rangeOf({ lower_bound, upper_bound }: Rate): string {
  return `Between ${percent(lower_bound)} and ${percent(upper_bound)}, with a confidence of 95 %`;
}
