// The choice of the time at which a campaign leaves.

import { Button, Group, Radio } from '@mantine/core';
import { Card, DateField, zoneOf } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { WHENS } from './routes.ts';
import { inWords, isPast, type Timing, tomorrowAt } from './timing.ts';

const LABELS: Record<Timing['when'], { label: string; description: string }> = {
  now: { label: 'At once', description: 'Texts leave as soon as you confirm.' },
  at: { label: 'At a time', description: 'Everyone is texted at the same moment.' },
  local: {
    label: 'At the local time of each person',
    description:
      'Everyone is texted when it is that time where they are: up to 26 hours lie between the first and the last.',
  },
};

const HOURS = [10, 14, 17];

interface WhenProps {
  timing: Timing;
  isReadOnly: boolean;
  onChange: (timing: Timing) => void;
}

export function When({ timing, isReadOnly, onChange }: WhenProps) {
  const { when, at } = timing;
  return (
    <Card title="When it leaves">
      <div className={styles.form}>
        <Radio.Group
          aria-label="When it leaves"
          value={when}
          onChange={(value) => onChange({ when: WHENS.find((each) => each === value) ?? 'now', at })}
        >
          <div className={styles.form}>
            {WHENS.map((value) => (
              <Radio key={value} value={value} disabled={isReadOnly} {...LABELS[value]} />
            ))}
          </div>
        </Radio.Group>
        {when !== 'now' && (
          <div className={styles.time}>
            <DateField
              type="datetime-local"
              label={when === 'at' ? 'Time' : 'Time where the person is'}
              readOnly={isReadOnly}
              value={at}
              error={isPast(timing) && 'This time is past. Choose a later one.'}
              onChange={(value) => onChange({ when, at: value })}
            />
            <Group gap={8}>
              {HOURS.map((hour) => (
                <Button key={hour} size="xs" variant="default" onClick={() => onChange({ when, at: tomorrowAt(hour) })}>
                  Tomorrow {hour}:00
                </Button>
              ))}
            </Group>
            {at && (
              <p className={styles.soft}>
                {inWords(at)}, {when === 'at' ? `your time (${zoneOf()})` : 'on the clock of each person'}.
              </p>
            )}
          </div>
        )}
        <p className={styles.soft}>
          Quiet hours hold back texts that would come at night, until the morning of the person. The check shows how
          many.
        </p>
      </div>
    </Card>
  );
}
