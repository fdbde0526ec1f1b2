// The rules of a sequence: what ends it early, the hours of its texts, and enrolling somebody again.

import { Checkbox, MultiSelect, NumberInput, Select, TextInput } from '@mantine/core';
import { useQuery } from 'urql';
import { Card, words } from '../../ui/index.ts';
import { STAGES } from '../contacts/index.ts';
import { type SequenceDraft, WEEKDAYS } from './model.ts';
import { SequenceTags } from './queries.ts';
import styles from './sequences.module.css';

interface RulesProps {
  draft: SequenceDraft;
  onChange: (changes: Partial<SequenceDraft>) => void;
}

export function Rules({ draft, onChange }: RulesProps) {
  return (
    <>
      <Exits draft={draft} onChange={onChange} />
      <Hours draft={draft} onChange={onChange} />
      <Again draft={draft} onChange={onChange} />
    </>
  );
}

function Exits({ draft: { exits }, onChange }: RulesProps) {
  const [{ data }] = useQuery({ query: SequenceTags });
  const edit = (changes: Partial<typeof exits>) => onChange({ exits: { ...exits, ...changes } });
  const tags = [...new Set([...(data?.tags.map(({ name }) => name) ?? []), ...exits.tags])];
  return (
    <Card title="When it ends early">
      <div className={styles.form}>
        <p className={styles.soft}>An opt-out and do-not-disturb always end it.</p>
        <Checkbox
          label="When the person replies"
          checked={exits.on_reply}
          onChange={({ currentTarget }) => edit({ on_reply: currentTarget.checked })}
        />
        <MultiSelect
          label="When the person comes to a stage"
          placeholder={exits.stages.length > 0 ? undefined : 'No stage'}
          clearable
          clearButtonProps={{ 'aria-label': 'No stage' }}
          data={STAGES.map((stage) => ({ value: stage, label: words(stage) }))}
          value={exits.stages}
          onChange={(chosen) => edit({ stages: STAGES.filter((stage) => chosen.includes(stage)) })}
        />
        <MultiSelect
          label="When the person gets a tag"
          placeholder={exits.tags.length > 0 ? undefined : 'No tag'}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'No tag' }}
          nothingFoundMessage="No such tag."
          data={tags}
          value={exits.tags}
          onChange={(chosen) => edit({ tags: chosen })}
        />
      </div>
    </Card>
  );
}

const OFFICE = { start: '09:00', end: '17:00', weekdays: WEEKDAYS.slice(0, 5) };

function Hours({ draft: { window }, onChange }: RulesProps) {
  const edit = (changes: Partial<typeof OFFICE>) => window && onChange({ window: { ...window, ...changes } });
  return (
    <Card title="When its texts leave">
      <div className={styles.form}>
        <Checkbox
          label="Only at some hours"
          description="On the clock of the person. Quiet hours hold texts back in any case."
          checked={window !== null}
          onChange={({ currentTarget }) => onChange({ window: currentTarget.checked ? OFFICE : null })}
        />
        {window && (
          <>
            <div className={styles.when}>
              <TextInput
                label="From"
                type="time"
                value={window.start}
                onChange={({ currentTarget }) => edit({ start: currentTarget.value })}
              />
              <TextInput
                label="Until"
                type="time"
                value={window.end}
                onChange={({ currentTarget }) => edit({ end: currentTarget.value })}
              />
            </div>
            <MultiSelect
              label="On"
              placeholder={window.weekdays.length > 0 ? undefined : 'Every day'}
              data={WEEKDAYS.map((day) => ({ value: day, label: words(day) }))}
              value={window.weekdays}
              onChange={(chosen) => edit({ weekdays: WEEKDAYS.filter((day) => chosen.includes(day)) })}
            />
          </>
        )}
      </div>
    </Card>
  );
}

const AGAIN = [
  { value: 'at once', label: 'Whenever it has ended' },
  { value: 'later', label: 'Some days after it has ended' },
  { value: 'never', label: 'Never' },
];

function Again({ draft: { re_enroll_after_days: days, skips_refused }, onChange }: RulesProps) {
  return (
    <Card title="Afterwards">
      <div className={styles.form}>
        <Select
          label="A person can be enrolled again"
          allowDeselect={false}
          data={AGAIN}
          value={days === null ? 'never' : days === 0 ? 'at once' : 'later'}
          onChange={(value) =>
            onChange({ re_enroll_after_days: value === 'never' ? null : value === 'later' ? 30 : 0 })
          }
        />
        {days !== null && days > 0 && (
          <NumberInput
            label="Days"
            min={1}
            max={3650}
            allowDecimal={false}
            value={days}
            onChange={(value) => onChange({ re_enroll_after_days: Math.max(1, Number(value)) })}
          />
        )}
        <Checkbox
          label="Skip a text that cannot be sent for a day"
          description="Such as for lack of credits. Otherwise the sequence ends for that person."
          checked={skips_refused}
          onChange={({ currentTarget }) => onChange({ skips_refused: currentTarget.checked })}
        />
      </div>
    </Card>
  );
}
