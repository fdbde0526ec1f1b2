// The fields of tags and segments in the choice of an audience.

import { MultiSelect, Select } from '@mantine/core';

export interface Choice {
  value: string;
  label: string;
}

interface FieldProps<Value> {
  label: string;
  value: Value;
  isReadOnly: boolean;
  onChange: (value: Value) => void;
}

export function Tags({ label, tags, value, isReadOnly, onChange }: FieldProps<string[]> & { tags: string[] }) {
  return (
    <MultiSelect
      label={label}
      placeholder={value.length > 0 ? undefined : 'Choose tags'}
      searchable
      clearable
      hidePickedOptions
      readOnly={isReadOnly}
      nothingFoundMessage="No other tag."
      clearButtonProps={{ 'aria-label': `No tags: ${label.toLowerCase()}` }}
      data={[...new Set([...tags, ...value])]}
      value={value}
      onChange={onChange}
    />
  );
}

export function SegmentChoice({
  label,
  segments,
  value,
  isReadOnly,
  onChange,
}: FieldProps<number | null> & { segments: Choice[] }) {
  return (
    <Select
      label={label}
      placeholder={segments.length > 0 ? 'Choose a segment' : 'No segment is saved yet'}
      searchable
      clearable
      readOnly={isReadOnly}
      clearButtonProps={{ 'aria-label': `No segment: ${label.toLowerCase()}` }}
      data={segments}
      value={value ? String(value) : null}
      onChange={(id) => onChange(id ? Number(id) : null)}
    />
  );
}
