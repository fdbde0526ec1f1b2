// The fields of a trigger: its kind decides which there are.

import { Autocomplete, Button, Checkbox, NumberInput, Select, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { words } from '../../ui/index.ts';
import styles from './automations.module.css';
import { COMPARISONS, type Condition, DAYS, EVENTS, freshTrigger, type Trigger, TRIGGERS } from './model.ts';
import { DateFields } from './queries.ts';

interface FieldsProps {
  trigger: Trigger;
  onChange: (trigger: Trigger) => void;
}

export function TriggerFields({ trigger, onChange }: FieldsProps) {
  const set = (changes: Partial<Trigger>) => onChange({ ...trigger, ...changes });
  const { kind } = trigger;
  return (
    <>
      <Select
        label="Trigger"
        allowDeselect={false}
        data={Object.entries(TRIGGERS).map(([value, label]) => ({ value, label }))}
        value={kind}
        onChange={(value) => onChange(freshTrigger(value as Trigger['kind']))}
      />
      {kind === 'event' && <EventFields trigger={trigger} set={set} />}
      {kind === 'missed_reply' && (
        <NumberInput
          label="Hours without a reply"
          min={1}
          max={720}
          allowDecimal={false}
          value={trigger.hours ?? ''}
          onChange={(value) => set({ hours: Number(value) })}
        />
      )}
      {kind === 'birthday' && <DateField value={trigger.field} onChange={(field) => set({ field })} />}
      {(kind === 'birthday' || kind === 'schedule') && (
        <TextInput
          label="At"
          type="time"
          description="In the time zone of the account."
          value={trigger.at ?? '10:00'}
          onChange={({ currentTarget }) => set({ at: currentTarget.value })}
        />
      )}
      {kind === 'schedule' && (
        <Checkbox.Group
          label="Days"
          value={trigger.weekdays ?? []}
          onChange={(chosen) => set({ weekdays: DAYS.filter((day) => chosen.includes(day)) })}
        >
          <div className={styles.acts} style={{ marginTop: 8 }}>
            {DAYS.map((day) => (
              <Checkbox key={day} value={day} label={words(day)} />
            ))}
          </div>
        </Checkbox.Group>
      )}
    </>
  );
}

function EventFields({ trigger, set }: { trigger: Trigger; set: (changes: Partial<Trigger>) => void }) {
  const where = trigger.where ?? [];
  const fields = EVENTS[trigger.event ?? ''] ?? [];
  const replace = (at: number, changes: Partial<Condition>) =>
    set({ where: where.map((each, index) => (index === at ? { ...each, ...changes } : each)) });
  return (
    <>
      <Select
        label="Event"
        allowDeselect={false}
        data={Object.keys(EVENTS).map((value) => ({ value, label: words(value) }))}
        value={trigger.event}
        onChange={(event) => set({ event, where: [] })}
      />
      {where.map(({ field, op, value }, at) => (
        <div key={at} className={styles.row} role="group" aria-label={`Condition ${at + 1}`}>
          <Autocomplete
            label="Field of the event"
            data={fields}
            required
            value={field}
            onChange={(changed) => replace(at, { field: changed })}
          />
          <Select
            label="Comparison"
            allowDeselect={false}
            data={COMPARISONS}
            value={op}
            onChange={(changed) => replace(at, { op: (changed ?? 'eq') as Condition['op'] })}
          />
          <TextInput
            label="Value"
            required
            maxLength={200}
            value={value}
            onChange={({ currentTarget }) => replace(at, { value: currentTarget.value })}
          />
          <Button
            variant="default"
            title={`Remove condition ${at + 1}`}
            onClick={() => set({ where: where.filter((_, index) => index !== at) })}
          >
            Remove
          </Button>
        </div>
      ))}
      {where.length < 10 && (
        <div>
          <Button
            size="xs"
            variant="default"
            onClick={() => set({ where: [...where, { field: fields[0] ?? '', op: 'eq', value: '' }] })}
          >
            Add a condition
          </Button>
        </div>
      )}
    </>
  );
}

function DateField({ value, onChange }: { value?: string | null; onChange: (field: string) => void }) {
  const [{ data }] = useQuery({ query: DateFields, pause: !useMay('contacts:read') });
  const dates = data?.custom_fields.filter(({ type }) => type === 'date') ?? [];
  if (data && dates.length === 0) {
    return (
      <p className={styles.soft}>
        There is no custom field with a date yet. <Link to="/contacts">Make one for your contacts</Link> first.
      </p>
    );
  }
  return (
    <Select
      label="Date of the contact"
      allowDeselect={false}
      data={dates.map(({ key, label }) => ({ value: key, label: label || key }))}
      value={value || null}
      onChange={(field) => onChange(field ?? '')}
    />
  );
}
