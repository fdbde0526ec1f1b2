// The choice of one contact, found by a part of the name, the phone or the e-mail address.

import { Select } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useSettled } from '../../ui/index.ts';
import { ContactsFound } from './queries.ts';

export interface PickedContact {
  id: number;
  label: string;
}

interface ContactPickerProps {
  label: string;
  value?: PickedContact;
  onChange: (contact?: PickedContact) => void;
}

export function ContactPicker({ label, value, onChange }: ContactPickerProps) {
  const [typed, setTyped] = useState('');
  const settled = useSettled(typed);
  const search = settled === value?.label ? '' : settled.trim();
  const [{ data, fetching }] = useQuery({ query: ContactsFound, variables: { search: search || null } });
  const found: PickedContact[] = data?.contacts?.nodes ?? [];
  const offered = value && !found.some(({ id }) => id === value.id) ? [value, ...found] : found;
  return (
    <Select
      label={label}
      placeholder="Search names, phones, e-mail"
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      nothingFoundMessage={fetching ? 'Searching…' : 'No contact matches.'}
      data={offered.map((each) => ({ value: String(each.id), label: each.label }))}
      value={value ? String(value.id) : null}
      onChange={(id) => onChange(offered.find((each) => String(each.id) === id))}
    />
  );
}

/** Return the contact that was added last. */
export function useNewestContact(): PickedContact | undefined {
  const [{ data }] = useQuery({ query: ContactsFound, variables: { search: null } });
  return data?.contacts?.nodes[0];
}
