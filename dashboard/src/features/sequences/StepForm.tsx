// One text of a sequence: when it is sent and what it says. Alt with an arrow moves it.

import { ActionIcon, NumberInput, TextInput } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import type { Refusal } from '../../graphql/index.ts';
import { faultsOf, Icon } from '../../ui/index.ts';
import { TextEditor } from '../templates/index.ts';
import type { StepDraft } from './model.ts';
import styles from './sequences.module.css';
import { timingOf } from './timing.ts';

/** The fields of a text that show a refusal. */
export const STEP_FIELDS = ['delay_days', 'delay_minutes', 'at', 'body'];

interface StepFormProps {
  step: StepDraft;
  index: number;
  isLast: boolean;
  refused?: Refusal;
  onChange: (step: StepDraft) => void;
  onMove: (by: number) => void;
  onRemove?: () => void;
}

export function StepForm({ step, index, isLast, refused, onChange, onMove, onRemove }: StepFormProps) {
  const { days, hours, at, body } = step;
  const number = index + 1;
  const timing = timingOf({ delay_days: days, delay_minutes: Math.round(hours * 60), at: at || null }, index === 0);
  const faults = faultsOf(refused, STEP_FIELDS);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    if (!event.altKey || by === 0) return;
    event.preventDefault();
    onMove(by);
  };
  return (
    <li className={styles.step} onKeyDown={onKeyDown}>
      <section className={styles.card} aria-label={`Text ${number}`}>
        <div className={styles.head}>
          <h2>{timing}</h2>
          <ActionIcon.Group>
            <ActionIcon
              variant="default"
              aria-label={`Move text ${number} up`}
              disabled={index === 0}
              onClick={() => onMove(-1)}
            >
              ↑
            </ActionIcon>
            <ActionIcon
              variant="default"
              aria-label={`Move text ${number} down`}
              disabled={isLast}
              onClick={() => onMove(1)}
            >
              ↓
            </ActionIcon>
            {onRemove && (
              <ActionIcon variant="default" aria-label={`Remove text ${number}`} onClick={onRemove}>
                <Icon name="close" size={14} />
              </ActionIcon>
            )}
          </ActionIcon.Group>
        </div>
        <div className={styles.when}>
          <NumberInput
            label="Days"
            min={0}
            max={365}
            allowDecimal={false}
            value={days}
            error={faults.at('delay_days')}
            onChange={(value) => onChange({ ...step, days: Number(value) })}
          />
          <NumberInput
            label="Hours"
            min={0}
            max={8760}
            decimalScale={2}
            value={hours}
            error={faults.at('delay_minutes')}
            onChange={(value) => onChange({ ...step, hours: Number(value) })}
          />
          <TextInput
            label="Then at"
            type="time"
            value={at}
            error={faults.at('at')}
            onChange={({ currentTarget }) => onChange({ ...step, at: currentTarget.value })}
          />
        </div>
        <TextEditor
          label={`Text ${number}`}
          body={body}
          isFirst={index === 0}
          minRows={3}
          error={faults.at('body')}
          onChange={(next) => onChange({ ...step, body: next })}
        />
      </section>
    </li>
  );
}
