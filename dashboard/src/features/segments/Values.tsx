// The entry of the values of a condition: what can be chosen is chosen, the rest is typed.

import { MultiSelect, NumberInput, Select, TagsInput, TextInput } from '@mantine/core';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { oneOf } from '../contacts/index.ts';
import { words } from '../../ui/index.ts';
import { labelOf } from './labels.ts';
import { type Condition, durationOf, entryOf, instantOf, localOf, UNITS } from './model.ts';
import { type Field, SegmentCampaigns, SegmentSequences, SegmentTags, SegmentUsers } from './queries.ts';
import styles from './segments.module.css';

interface ValuesProps {
  condition: Condition;
  field?: Field;
  onChange: (values: string[]) => void;
}

export function Values({ condition: { op, values, field: name }, field, onChange }: ValuesProps) {
  const options = useOptions(field);
  const label = `Value of ${field ? labelOf(field) : name}`;
  const entry = entryOf(op);
  const clear = { 'aria-label': `Clear ${label.toLowerCase()}` };
  if (entry === 'none') return <span />;
  if (entry === 'duration')
    return (
      <Duration
        label={label}
        value={values[0]}
        isDate={field?.kind === 'date'}
        onChange={(value) => onChange([value])}
      />
    );
  if (entry === 'many') {
    if (!options || field?.kind === 'tags') {
      return (
        <TagsInput
          aria-label={label}
          placeholder="Type, then Enter"
          data={options?.map((each) => each.label)}
          value={values}
          onChange={onChange}
          clearButtonProps={clear}
        />
      );
    }
    return (
      <MultiSelect
        aria-label={label}
        searchable
        data={options}
        value={values}
        onChange={onChange}
        clearButtonProps={clear}
      />
    );
  }
  if (options) {
    return (
      <Select
        aria-label={label}
        searchable
        allowDeselect={false}
        data={options}
        value={values[0] ?? null}
        onChange={(value) => value && onChange([value])}
      />
    );
  }
  if (entry === 'one')
    return <One label={label} kind={field?.kind} value={values[0]} onChange={(value) => onChange([value])} />;
  const [from = '', to = ''] = values;
  return (
    <div className={styles.two}>
      <One label={`${label}, from`} kind={field?.kind} value={from} onChange={(value) => onChange([value, to])} />
      <One label={`${label}, to`} kind={field?.kind} value={to} onChange={(value) => onChange([from, value])} />
    </div>
  );
}

interface OneProps {
  label: string;
  kind?: Field['kind'];
  value?: string;
  onChange: (value: string) => void;
}

function One({ label, kind, value = '', onChange }: OneProps) {
  if (kind === 'number')
    return <NumberInput aria-label={label} value={value} onChange={(next) => onChange(String(next))} />;
  const isTime = kind === 'time';
  return (
    <TextInput
      aria-label={label}
      type={isTime ? 'datetime-local' : kind === 'date' ? 'date' : 'text'}
      value={isTime ? localOf(value) : value}
      onChange={({ currentTarget }) => onChange(isTime ? instantOf(currentTarget.value) : currentTarget.value)}
    />
  );
}

interface DurationProps {
  label: string;
  value?: string;
  isDate: boolean;
  onChange: (value: string) => void;
}

function Duration({ label, value, isDate, onChange }: DurationProps) {
  const [number, unit] = durationOf(value);
  const units = isDate ? UNITS.slice(2) : UNITS;
  const write = (amount: number | string, of: string) => onChange(amount ? `${amount} ${of}` : '');
  return (
    <div className={styles.two}>
      <NumberInput
        aria-label={label}
        min={1}
        max={99_999}
        allowDecimal={false}
        value={number}
        onChange={(next) => write(next, unit)}
      />
      <Select
        aria-label={`Unit of the ${label.toLowerCase()}`}
        allowDeselect={false}
        data={[...units]}
        value={unit}
        onChange={(next) => write(number || 1, oneOf(UNITS, next) ?? 'days')}
      />
    </div>
  );
}

/** Return the values that a field can have; none where any can be typed. */
function useOptions(field?: Field): { value: string; label: string }[] | undefined {
  const mayReadTags = useMay('contacts:read');
  const mayReadUsers = useMay('conversations:write');
  const [{ data: tags }] = useQuery({
    query: SegmentTags,
    pause: field?.kind !== 'tags' || !mayReadTags,
    requestPolicy: 'cache-and-network',
  });
  const [{ data: users }] = useQuery({ query: SegmentUsers, pause: field?.name !== 'assignee_id' || !mayReadUsers });
  const records = useRecords(field?.name);
  if (field?.kind === 'ids') return records;
  if (field?.kind === 'tags') return tags?.tags.map(({ name }) => ({ value: name, label: name }));
  if (field?.name === 'assignee_id') {
    return users?.users.map(({ id, email, first_name }) => ({ value: String(id), label: first_name || email }));
  }
  if (field?.kind === 'boolean')
    return ['true', 'false'].map((value) => ({ value, label: value === 'true' ? 'Yes' : 'No' }));
  if (!field || field.choices.length === 0) return undefined;
  return field.choices.map((value) => ({ value, label: field.kind === 'choice' ? words(value) : value }));
}

/** Return the campaigns or drip sequences that a field takes. */
function useRecords(name?: string): { value: string; label: string }[] {
  const mayRead = useMay('campaigns:read');
  const [{ data: campaigns }] = useQuery({ query: SegmentCampaigns, pause: name !== 'replied_to' || !mayRead });
  const [{ data: sequences }] = useQuery({ query: SegmentSequences, pause: name !== 'enrolled_in' || !mayRead });
  const found = name === 'replied_to' ? campaigns?.campaigns.nodes : sequences?.sequences.nodes;
  return found?.map(({ id, name: label }) => ({ value: String(id), label: `${label} (${id})` })) ?? [];
}
