// The times from which the texts of a campaign leave, as quiet hours allow.

import { useState } from 'react';
import { Bars, Card, Notice, plural, Time } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { placesOf } from './model.ts';
import type { Previewed } from './usePreview.ts';

/** The sentence on texts that quiet hours hold: how many, and until when; nothing while all may leave at once. */
export function Held({ zones }: Pick<Previewed, 'zones'>) {
  const [now] = useState(() => Date.now());
  const held = zones.filter(({ opens_at }) => !isNow(opens_at, now));
  const texts = held.reduce((sum, { count }) => sum + count, 0);
  if (texts === 0) return null;
  const opening = held.flatMap(({ opens_at }) => opens_at ?? []).sort();
  const [first, last] = [opening[0], opening.at(-1)];
  return (
    <Notice kind="warn">
      <span>
        Quiet hours hold {plural(texts, 'text')} back
        {first && (
          <>
            {' '}
            until <Time at={first} full />
          </>
        )}
        {last && last !== first && (
          <>
            , the last until <Time at={last} full />
          </>
        )}
        .
      </span>
    </Notice>
  );
}

/** Tell whether texts may leave at once; null stands for not within two weeks. */
function isNow(opensAt: string | null, now: number): boolean {
  return opensAt !== null && new Date(opensAt).getTime() <= now + 60_000;
}

export function Leaving({ preview: { zones, eta_seconds, recipients } }: { preview: Previewed }) {
  const [now] = useState(() => Date.now());
  const groups = Map.groupBy(zones, ({ opens_at }) => opens_at ?? '');
  const rows = [...groups]
    .map(([at, found]) => ({ at, found, texts: found.reduce((sum, each) => sum + each.count, 0) }))
    .sort((one, other) => (one.at || '9').localeCompare(other.at || '9'));
  if (recipients === 0) return null;
  const later = rows.filter(({ at }) => !isNow(at || null, now)).reduce((sum, { texts }) => sum + texts, 0);
  const minutes = Math.ceil(eta_seconds / 60);
  return (
    <Card title="When the texts leave">
      <Bars
        label="Texts by the time from which they leave"
        caption={
          later === 0
            ? 'Every text may leave at once.'
            : `${plural(later, 'text')} ${later === 1 ? 'leaves' : 'leave'} later.`
        }
        group="From"
        series={[{ name: 'Texts', tone: 'one' }]}
        rows={rows.map(({ at, found, texts }) => ({
          key: at,
          name: at,
          label: (
            <span className={styles.rowLabel}>
              {at === '' ? 'Not within two weeks' : isNow(at, now) ? 'At once' : <Time at={at} full />}
              <span className={styles.soft}>{placesOf(found.flatMap(({ zones: names }) => names))}</span>
            </span>
          ),
          values: [texts],
        }))}
      />
      {minutes > 1 && (
        <p className={styles.soft}>At the pace of your numbers they need about {plural(minutes, 'minute')}.</p>
      )}
    </Card>
  );
}
