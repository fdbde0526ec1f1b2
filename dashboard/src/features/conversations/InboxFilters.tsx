// The search of the inbox, and behind a button the number and the order of the conversations.

import { ActionIcon, Checkbox, Popover, Select, TextInput } from '@mantine/core';
import { useEffect, useEffectEvent, useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { grouped, Icon, useSettled } from '../../ui/index.ts';
import styles from './inbox.module.css';
import { InboxNumbers } from './queries.ts';
import type { InboxSearch } from './views.ts';

interface InboxFiltersProps {
  search: InboxSearch;
  onChange: (search: InboxSearch) => void;
}

export function InboxFilters({ search, onChange }: InboxFiltersProps) {
  const [typed, setTyped] = useState(search.search ?? '');
  const settled = useSettled(typed.trim());
  const apply = useEffectEvent((text: string) => {
    if (text !== (search.search ?? '')) onChange({ ...search, search: text || undefined });
  });
  useEffect(() => apply(settled), [settled]);
  return (
    <div className={styles.filters}>
      <TextInput
        type="search"
        size="xs"
        flex={1}
        aria-label="Search conversations"
        placeholder="Search names, phones, e-mail"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <More search={search} onChange={onChange} />
    </div>
  );
}

function More({ search, onChange }: InboxFiltersProps) {
  const { number, sort } = search;
  const isUsed = Boolean(number ?? sort);
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus withinPortal={false}>
      <Popover.Target>
        <ActionIcon
          size={30}
          variant={isUsed ? 'light' : 'default'}
          aria-label={isUsed ? 'Number and order: changed' : 'Number and order'}
        >
          <Icon name="segments" size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="Number and order">
        {useMay('numbers:read') && <NumberChoice search={search} onChange={onChange} />}
        <Checkbox
          label="Longest waiting first"
          description="Only people who wait for an answer."
          checked={sort === 'oldest_waiting'}
          onChange={({ currentTarget }) =>
            onChange({ ...search, sort: currentTarget.checked ? 'oldest_waiting' : undefined })
          }
        />
      </Popover.Dropdown>
    </Popover>
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
