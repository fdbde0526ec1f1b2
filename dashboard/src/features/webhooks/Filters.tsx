// The filters of deliveries, which the address holds.

import { Button, Select } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { DateField, words } from '../../ui/index.ts';
import { ANSWERS, type DeliverySearch, STATES } from './search.ts';
import styles from './webhooks.module.css';

const route = getRouteApi('/settings/keys/webhooks/$id');

export function Filters({ events }: { events: string[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (changes: DeliverySearch) => void navigate({ search: (old) => ({ ...old, ...changes }), replace: true });
  const one = (name: 'status' | 'event' | 'answer', label: string, data: { value: string; label: string }[]) => (
    <Select
      label={label}
      placeholder="All"
      clearable
      clearButtonProps={{ 'aria-label': `${label}: all` }}
      data={data}
      value={search[name] ?? null}
      onChange={(value) => set({ [name]: value ?? undefined })}
    />
  );
  const day = (name: 'since' | 'until', label: string) => (
    <DateField label={label} value={search[name] ?? ''} onChange={(value) => set({ [name]: value || undefined })} />
  );
  return (
    <div className={styles.filters}>
      {one(
        'status',
        'Status',
        STATES.map((value) => ({ value, label: words(value) })),
      )}
      {one('event', 'Event', [...new Set([...events, ...(search.event ? [search.event] : [])])].map(same))}
      {one(
        'answer',
        'Answer',
        Object.entries(ANSWERS).map(([value, label]) => ({ value, label })),
      )}
      {day('since', 'From')}
      {day('until', 'To')}
      {search.contact !== undefined && (
        <Button variant="light" style={{ alignSelf: 'end' }} onClick={() => set({ contact: undefined })}>
          Only contact {search.contact} ✕
        </Button>
      )}
    </div>
  );
}

function same(value: string): { value: string; label: string } {
  return { value, label: value };
}
