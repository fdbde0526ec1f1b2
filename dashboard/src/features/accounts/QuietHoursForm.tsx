// A new rule of quiet hours. It tightens those of law, or stands in their place for a reason.

import { Button, Checkbox, Group, NumberInput, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { VariablesOf } from '../../graphql/index.ts';
import { Refused, useAct, words } from '../../ui/index.ts';
import styles from './accounts.module.css';
import { AddQuietHours } from './mutations.ts';

type NewRule = VariablesOf<typeof AddQuietHours>['rule'];
type Weekday = NonNullable<NewRule['weekdays']>[number];

const DAYS: Weekday[] = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const FRESH: NewRule = { jurisdiction: '*', start: '09:00', end: '20:00' };

export function QuietHoursForm({ onAdded }: { onAdded: () => void }) {
  const act = useAct(AddQuietHours);
  const [rule, setRule] = useState(FRESH);
  const set = (changes: Partial<NewRule>) => setRule({ ...rule, ...changes });
  const wrong = (field: string) => (act.refusal?.field?.endsWith(field) ? act.refusal.text : undefined);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await act.run({ rule })) onAdded();
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Place"
        description="A country such as US, a state such as US-FL, or * for everywhere."
        required
        value={rule.jurisdiction}
        error={wrong('jurisdiction')}
        onChange={({ currentTarget }) => set({ jurisdiction: currentTarget.value.trim().toUpperCase() })}
        data-autofocus
      />
      <Group grow>
        <TextInput
          type="time"
          label="Texts leave from"
          required
          value={rule.start}
          error={wrong('start')}
          onChange={({ currentTarget }) => set({ start: currentTarget.value })}
        />
        <TextInput
          type="time"
          label="Until"
          description=""
          required
          value={rule.end}
          error={wrong('end')}
          onChange={({ currentTarget }) => set({ end: currentTarget.value })}
        />
      </Group>
      <Checkbox.Group
        label="On these days"
        description="Without a choice the rule holds on every day."
        value={rule.weekdays ?? []}
        error={wrong('weekdays')}
        onChange={(days) => set({ weekdays: days.length > 0 ? (days as Weekday[]) : null })}
      >
        <div className={styles.scopes}>
          {DAYS.map((day) => (
            <Checkbox key={day} size="xs" value={day} label={words(day)} />
          ))}
        </div>
      </Checkbox.Group>
      <NumberInput
        label="Most promotional texts to a person in 24 hours"
        description="Empty for no cap. A cap needs a rule for every day."
        min={1}
        allowDecimal={false}
        value={rule.cap ?? ''}
        error={wrong('cap')}
        onChange={(cap) => set({ cap: cap === '' ? null : Number(cap) })}
      />
      <Checkbox
        label="In place of the law, which it may loosen"
        checked={rule.overrides_law ?? false}
        onChange={({ currentTarget }) => set({ overrides_law: currentTarget.checked })}
      />
      <TextInput
        label="Reason"
        description="Needed in place of the law. The audit log keeps it."
        required={rule.overrides_law === true}
        maxLength={200}
        value={rule.reason ?? ''}
        error={wrong('reason')}
        onChange={({ currentTarget }) => set({ reason: currentTarget.value })}
      />
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" loading={act.isBusy}>
        Add the rule
      </Button>
    </form>
  );
}
