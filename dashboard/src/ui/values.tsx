// Values as people read them: times in their zone, numbers and money in their language, states with a word.

import { Button, CopyButton } from '@mantine/core';
import { localeOf, timeIn } from './place.ts';
import styles from './ui.module.css';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const SHORT = { hour: 'numeric', minute: '2-digit' } as const;
const DAY_MONTH = { day: 'numeric', month: 'short' } as const;
const DATED = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const EXACT = { dateStyle: 'full', timeStyle: 'long' } as const;

/** Return a time as briefly as it stays clear: the hour today, the day this year, else the date. */
export function brief(at: string, now = Date.now()): string {
  const time = new Date(at);
  if (timeIn(DATED, now) === timeIn(DATED, time)) return timeIn(SHORT, time);
  return timeIn(Math.abs(now - time.getTime()) < 180 * DAY ? DAY_MONTH : DATED, time);
}

export function instant(at: string): string {
  return `${timeIn(EXACT, new Date(at))} (${new Date(at).toISOString()})`;
}

export function Time({ at, full }: { at: string | null | undefined; full?: boolean }) {
  if (!at) return <span className={styles.soft}>never</span>;
  const text = full ? `${timeIn(DATED, new Date(at))}, ${timeIn(SHORT, new Date(at))}` : brief(at);
  return (
    <time dateTime={at} title={instant(at)}>
      {text}
    </time>
  );
}

export function count(value: number): string {
  return new Intl.NumberFormat(localeOf()).format(value);
}

const MOST = 99;

/** Return a count as briefly as it helps: the service counts no further than 100. */
export function capped(value: number): string {
  return value > MOST ? `${MOST}+` : `${value}`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function money(value: number, currency: string): string {
  return new Intl.NumberFormat(localeOf(), { style: 'currency', currency }).format(value);
}

/** Return a price of a single thing, which may be parts of a cent. */
export function unitPrice(value: number, currency: string): string {
  return new Intl.NumberFormat(localeOf(), { style: 'currency', currency, maximumFractionDigits: 4 }).format(value);
}

/** Return a share of one as a percentage. */
export function percent(share: number, digits = 1): string {
  return new Intl.NumberFormat(localeOf(), { style: 'percent', maximumFractionDigits: digits }).format(share);
}

export function words(name: string): string {
  const spaced = name.replaceAll('_', ' ').replace(/\bdnd\b/, 'do not disturb');
  const text = spaced.replace(/\b(ai|api|id|sms|url)\b/gi, (each) => each.toUpperCase());
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const SHAPES = { good: '●', warn: '▲', bad: '■', plain: '○' };

export type Kind = keyof typeof SHAPES;

export function Badge({ kind = 'plain', children }: { kind?: Kind; children: string }) {
  return (
    <span className={`${styles.badge} ${styles[kind]}`}>
      <span aria-hidden="true" style={{ fontSize: 8 }}>
        {SHAPES[kind]}
      </span>
      {children}
    </span>
  );
}

/** A text that is shown once: it is copied with one click, and kept nowhere. */
export function Secret({ value, label }: { value: string; label: string }) {
  return (
    <div className={`${styles.notice} ${styles.good}`}>
      <code className={styles.mono} style={{ flex: '1 1 240px' }} data-secret={label}>
        {value}
      </code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button size="xs" variant="default" onClick={copy}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
