// The number and the order of the conversations of the inbox.

import { Checkbox, Select } from '@mantine/core';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { grouped } from '../../ui/index.ts';
import type { InboxFiltersProps } from './InboxFilters.tsx';
import { InboxNumbers } from './queries.ts';

export function InboxChoices({ search, onChange }: InboxFiltersProps) {
  return (
    <>
      {useMay('numbers:read') && <NumberChoice search={search} onChange={onChange} />}
      <Checkbox
        label="Longest waiting first"
        description="Only people who wait for an answer."
        checked={search.sort === 'oldest_waiting'}
        onChange={({ currentTarget }) =>
          onChange({ ...search, sort: currentTarget.checked ? 'oldest_waiting' : undefined })
        }
      />
    </>
  );
}

function NumberChoice({ search, onChange }: InboxFiltersProps) {
  const [{ data }] = useQuery({ query: InboxNumbers });
  const numbers = data?.phone_numbers ?? [];
  return (
    <Select
      size="xs"
      mb={12}
      label="Your number"
      placeholder="Any"
      clearable
      clearButtonProps={{ 'aria-label': 'Any number' }}
      comboboxProps={{ withinPortal: false }}
      data={numbers.map(({ id, label, phone_number }) => ({
        value: String(id),
        label: label || grouped(phone_number),
      }))}
      value={search.number ? String(search.number) : null}
      onChange={(id) => onChange({ ...search, number: id ? Number(id) : undefined })}
    />
  );
}
