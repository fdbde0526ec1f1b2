// The filters of the list of contacts.

import { Select, TextInput } from '@mantine/core';
import { useEffect, useEffectEvent, useState } from 'react';
import { useQuery } from 'urql';
import { count, useSettled, words } from '../../ui/index.ts';
import styles from './contacts.module.css';
import { ContactsTags } from './queries.ts';
import { type ContactsSearch, oneOf, SORTS, STAGES, STATUSES } from './search.ts';

interface FiltersProps {
  filter: ContactsSearch;
  onChange: (filter: ContactsSearch) => void;
}

const SORT_WORDS = {
  name_asc: 'Name',
  name_desc: 'Name, Z to A',
  score_high: 'Highest score',
  date_added: 'Newest',
  date_updated: 'Changed last',
  last_message: 'Last message',
};

export function Filters({ filter, onChange }: FiltersProps) {
  const [typed, setTyped] = useState(filter.search ?? '');
  const settled = useSettled(typed.trim());
  const apply = useEffectEvent((search: string) => {
    if (search !== (filter.search ?? '')) onChange({ ...filter, search: search || undefined });
  });
  useEffect(() => apply(settled), [settled]);
  return (
    <div className={styles.filters}>
      <TextInput
        className={styles.search}
        type="search"
        aria-label="Search contacts"
        placeholder="Search names, phones, e-mail"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Choice
        label="Stage"
        values={STAGES}
        value={filter.stage}
        onChange={(value) => onChange({ ...filter, stage: oneOf(STAGES, value) })}
      />
      <Choice
        label="Status"
        values={STATUSES}
        value={filter.status}
        onChange={(value) => onChange({ ...filter, status: oneOf(STATUSES, value) })}
      />
      <TagChoice value={filter.tag} onChange={(tag) => onChange({ ...filter, tag: tag ?? undefined })} />
      <Select
        w={150}
        aria-label="Order"
        allowDeselect={false}
        data={SORTS.map((value) => ({ value, label: SORT_WORDS[value] }))}
        value={filter.sort ?? 'date_added'}
        onChange={(value) => onChange({ ...filter, sort: oneOf(SORTS, value) })}
      />
    </div>
  );
}

/** The tags are counted when they are looked at first. */
function TagChoice({ value, onChange }: Pick<ChoiceProps, 'value' | 'onChange'>) {
  const [isOpened, setOpened] = useState(false);
  const [{ data }] = useQuery({ query: ContactsTags, pause: !isOpened, requestPolicy: 'cache-and-network' });
  const counted = data?.tags.map(({ name, contact_count, contact_count_is_exact }) => ({
    value: name,
    label: `${name} (${count(contact_count)}${contact_count_is_exact ? '' : '+'})`,
  }));
  return (
    <Select
      w={140}
      aria-label="Tag"
      placeholder="Tag"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Any tag' }}
      data={counted ?? (value ? [value] : [])}
      value={value ?? null}
      onDropdownOpen={() => setOpened(true)}
      onChange={onChange}
    />
  );
}

interface ChoiceProps {
  label: string;
  values: readonly string[];
  value?: string;
  onChange: (value: string | null) => void;
}

function Choice({ label, values, value, onChange }: ChoiceProps) {
  return (
    <Select
      w={140}
      aria-label={label}
      placeholder={label}
      clearable
      clearButtonProps={{ 'aria-label': `Any ${label.toLowerCase()}` }}
      data={values.map((each) => ({ value: each, label: words(each) }))}
      value={value ?? null}
      onChange={onChange}
    />
  );
}
