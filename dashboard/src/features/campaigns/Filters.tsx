// The filters of the list of campaigns.

import { Select, TextInput } from '@mantine/core';
import { useTyped, words } from '../../ui/index.ts';
import { oneOf } from '../contacts/index.ts';
import styles from './campaigns.module.css';
import { type CampaignsSearch, STATUSES } from './routes.ts';

interface FiltersProps {
  filter: CampaignsSearch;
  onChange: (filter: CampaignsSearch) => void;
}

export function Filters({ filter, onChange }: FiltersProps) {
  const { typed, type } = useTyped(filter.search ?? '', (search) =>
    onChange({ ...filter, search: search || undefined }),
  );
  return (
    <div className={styles.filters}>
      <TextInput
        className={styles.search}
        type="search"
        aria-label="Search campaigns"
        placeholder="Search names"
        value={typed}
        onChange={({ currentTarget }) => type(currentTarget.value)}
      />
      <Select
        w={160}
        aria-label="State"
        placeholder="Any state"
        clearable
        clearButtonProps={{ 'aria-label': 'Any state' }}
        data={STATUSES.map((value) => ({ value, label: words(value) }))}
        value={filter.status ?? null}
        onChange={(value) => onChange({ ...filter, status: oneOf(STATUSES, value) })}
      />
    </div>
  );
}
