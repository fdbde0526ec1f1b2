// The filters of the list of contacts.

import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { count, Fold, useTyped, words } from '../../ui/index.ts';
import styles from './contacts.module.css';
import { ContactsSegments, ContactsTags } from './queries.ts';
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

const FILTERS = ['stage', 'status', 'tag', 'segment', 'sort'] as const;

export function Filters({ filter, onChange }: FiltersProps) {
  const mayFilterBySegment = useMay('campaigns:read');
  const { typed, type } = useTyped(filter.search ?? '', (search) =>
    onChange({ ...filter, search: search || undefined }),
  );
  return (
    <div className={styles.filters}>
      <TextInput
        className={styles.search}
        type="search"
        aria-label="Search contacts"
        placeholder="Search names, phones, e-mail"
        value={typed}
        onChange={({ currentTarget }) => type(currentTarget.value)}
      />
      <Fold label="Filters" icon="segments" isUsed={FILTERS.some((name) => filter[name] !== undefined)}>
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
        {mayFilterBySegment && (
          <SegmentChoice value={filter.segment} onChange={(segment) => onChange({ ...filter, segment })} />
        )}
        <Select
          w={150}
          aria-label="Order"
          allowDeselect={false}
          data={SORTS.map((value) => ({ value, label: SORT_WORDS[value] }))}
          value={filter.sort ?? 'date_added'}
          onChange={(value) => onChange({ ...filter, sort: oneOf(SORTS, value) })}
        />
      </Fold>
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

interface SegmentChoiceProps {
  value?: number;
  onChange: (id?: number) => void;
}

/** The names are loaded when they are looked at first, or for the segment in the address. */
function SegmentChoice({ value, onChange }: SegmentChoiceProps) {
  const [isOpened, setOpened] = useState(false);
  const isPaused = !isOpened && !value;
  const [{ data }] = useQuery({ query: ContactsSegments, pause: isPaused, requestPolicy: 'cache-and-network' });
  const named = data?.segments.nodes ?? [];
  const offered = value && !named.some(({ id }) => id === value) ? [{ id: value, name: `Segment ${value}` }] : [];
  return (
    <Select
      w={150}
      aria-label="Segment"
      placeholder="Segment"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Any segment' }}
      nothingFoundMessage="No segment matches."
      data={[...offered, ...named].map(({ id, name }) => ({ value: String(id), label: name }))}
      value={value ? String(value) : null}
      onDropdownOpen={() => setOpened(true)}
      onChange={(id) => onChange(Number(id) || undefined)}
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
