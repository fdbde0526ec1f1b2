// The search of the inbox, and behind a button the number and the order of the conversations.

import { ActionIcon, Popover, TextInput } from '@mantine/core';
import { Suspense } from 'react';
import { Icon, part, useTyped } from '../../ui/index.ts';
import styles from './inbox.module.css';
import type { InboxSearch } from './views.ts';

const Choices = part(async () => (await import('./InboxChoices.tsx')).InboxChoices);

export interface InboxFiltersProps {
  search: InboxSearch;
  onChange: (search: InboxSearch) => void;
}

export function InboxFilters({ search, onChange }: InboxFiltersProps) {
  const { typed, type } = useTyped(search.search ?? '', (text) => onChange({ ...search, search: text || undefined }));
  return (
    <div className={styles.filters}>
      <TextInput
        type="search"
        size="xs"
        flex={1}
        aria-label="Search conversations"
        placeholder="Search names, phones, e-mail"
        value={typed}
        onChange={({ currentTarget }) => type(currentTarget.value)}
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
        <Suspense>
          <Choices search={search} onChange={onChange} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
