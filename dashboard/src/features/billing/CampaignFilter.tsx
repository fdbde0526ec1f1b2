// The choice of a campaign whose credits are listed, found by a part of its name.

import { Select } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useSettled } from '../../ui/index.ts';
import { BillingCampaign, BillingCampaigns } from './queries.ts';

interface CampaignFilterProps {
  id?: number;
  onChange: (id?: number) => void;
}

export function CampaignFilter({ id, onChange }: CampaignFilterProps) {
  const [typed, setTyped] = useState('');
  const [{ data: chosen }] = useQuery({ query: BillingCampaign, variables: { id: id ?? 0 }, pause: !id });
  const name = id ? chosen?.campaign?.name : undefined;
  const settled = useSettled(typed.trim());
  const search = settled && settled !== name ? settled : null;
  const [{ data }] = useQuery({ query: BillingCampaigns, variables: { search } });
  const found = data?.campaigns.nodes ?? [];
  const offered =
    id && !found.some((each) => each.id === id) ? [{ id, name: name ?? `Campaign ${id}` }, ...found] : found;
  return (
    <Select
      label="Campaign"
      placeholder="Any"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Any campaign' }}
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      nothingFoundMessage="No campaign matches."
      data={offered.map((each) => ({ value: String(each.id), label: each.name || `Campaign ${each.id}` }))}
      value={id ? String(id) : null}
      onChange={(value) => onChange(Number(value) || undefined)}
    />
  );
}
