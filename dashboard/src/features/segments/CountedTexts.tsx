// The texts that a condition counts: from them or to them, of one status, of the last days.

import { Select } from '@mantine/core';
import { oneOf } from '../contacts/index.ts';
import { words } from '../../ui/index.ts';
import type { Counted } from './model.ts';
import styles from './segments.module.css';

const DIRECTIONS = ['inbound', 'outbound'] as const;
const STATUSES = ['pending', 'sent', 'delivered', 'failed', 'received'] as const;
const DURATIONS = ['1 days', '7 days', '30 days', '90 days', '365 days'];
const FROM = { inbound: 'From them', outbound: 'To them' };

interface CountedTextsProps {
  counted: Counted;
  onChange: (counted: Counted) => void;
}

export function CountedTexts({ counted, onChange }: CountedTextsProps) {
  const { direction, status, within } = counted;
  const durations = within && !DURATIONS.includes(within) ? [...DURATIONS, within] : DURATIONS;
  return (
    <div className={styles.counted}>
      <Select
        aria-label="Direction of the counted texts"
        placeholder="From and to them"
        clearable
        data={DIRECTIONS.map((value) => ({ value, label: FROM[value] }))}
        value={direction ?? null}
        onChange={(value) => onChange({ ...counted, direction: oneOf(DIRECTIONS, value) })}
      />
      <Select
        aria-label="Status of the counted texts"
        placeholder="Any status"
        clearable
        data={STATUSES.map((value) => ({ value, label: words(value) }))}
        value={status ?? null}
        onChange={(value) => onChange({ ...counted, status: oneOf(STATUSES, value) })}
      />
      <Select
        aria-label="Time of the counted texts"
        placeholder="At any time"
        clearable
        data={durations.map((value) => ({ value, label: `In the last ${value === '1 days' ? 'day' : value}` }))}
        value={within ?? null}
        onChange={(value) => onChange({ ...counted, within: value })}
      />
    </div>
  );
}
