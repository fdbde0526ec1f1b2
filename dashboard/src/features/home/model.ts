// The outcome of the texts of a period, and of the period before it.

import { count, hourIn, localIn, percent, zoneOf } from '../../ui/index.ts';
import type { Point } from './queries.ts';
import type { HomePeriod, Metric } from './search.ts';

const DAY = 24 * 60 * 60 * 1_000;

interface PeriodWords {
  label: string;
  /** The number of days of the period. */
  days: number;
  bucket: 'hour' | 'day';
  during: string;
  before: string;
}

export const PERIOD_WORDS: Record<HomePeriod, PeriodWords> = {
  day: { label: 'Today', days: 1, bucket: 'hour', during: 'today', before: 'by this time yesterday' },
  week: daily('7 days', 7),
  month: daily('30 days', 30),
  quarter: daily('90 days', 90),
};

function daily(label: string, days: number): PeriodWords {
  return { label, days, bucket: 'day', during: `in the last ${label}`, before: `in the ${label} before` };
}

export const METRIC_WORDS: Record<Metric, { label: string; one: string; many: string; color: 1 | 2 | 3 | 4 }> = {
  sent: { label: 'Sent', one: 'text was sent', many: 'texts were sent', color: 1 },
  delivered: { label: 'Delivered', one: 'text was delivered', many: 'texts were delivered', color: 2 },
  failed: { label: 'Failed', one: 'text failed', many: 'texts failed', color: 4 },
  failure_rate: { label: 'Failure rate', one: '', many: '', color: 4 },
  replies: { label: 'Replies', one: 'reply arrived', many: 'replies arrived', color: 2 },
  opt_outs: { label: 'Opt-outs', one: 'person opted out', many: 'people opted out', color: 3 },
};

export interface Split {
  starts: string[];
  current: (Point | null)[];
  before: Point[];
}

/** Divide the points of twice a period: the hours of today that are still to come have no point. */
export function split(points: Point[], { days, bucket }: PeriodWords, now = Date.now()): Split {
  const first = hourIn(zoneOf(), localIn(zoneOf(), now), 1 - days);
  const isBefore = ({ start }: Point) => Date.parse(start) < first.getTime();
  const before = points.filter(isBefore);
  const current: (Point | null)[] = points.filter((point) => !isBefore(point));
  const starts = current.map((point) => point?.start ?? '');
  if (bucket === 'hour') {
    for (const { start } of before.slice(current.length)) {
      starts.push(new Date(Date.parse(start) + DAY).toISOString());
      current.push(null);
    }
  }
  return { starts, current, before };
}

/** Return the value of a figure for points together; null for a rate of nothing. */
export function valueOf(metric: Metric, points: (Point | null)[]): number | null {
  const sum = (name: Exclude<Metric, 'failure_rate'>) => points.reduce((total, each) => total + (each?.[name] ?? 0), 0);
  if (metric !== 'failure_rate') return sum(metric);
  const ended = sum('delivered') + sum('failed');
  return ended ? sum('failed') / ended : null;
}

/** Return the points of the period before that are compared: as many as the period has by now. */
export function compared({ current, before }: Split): Point[] {
  return before.slice(0, current.filter((point) => point !== null).length);
}

export function shown(metric: Metric, value: number | null): string {
  if (value === null) return '–';
  return metric === 'failure_rate' ? percent(value) : count(value);
}

/** Return the finding of a chart as a sentence. */
export function findingOf(metric: Metric, now: number | null, then: number | null, words: PeriodWords): string {
  const { during, before } = words;
  if (metric === 'failure_rate') {
    if (now === null) return `No text has a final result yet ${during}.`;
    const earlier = then === null ? '' : `, ${percent(then)} ${before}`;
    return `${percent(now)} of the texts with a final result failed ${during}${earlier}.`;
  }
  const { one, many } = METRIC_WORDS[metric];
  const total = now ?? 0;
  const said = total === 0 ? `No ${one}` : `${count(total)} ${total === 1 ? one : many}`;
  return `${said} ${during}${difference(total, then ?? 0, before)}.`;
}

function difference(now: number, then: number, before: string): string {
  if (now === then) return now ? `, as many as ${before}` : '';
  if (then === 0) return `, none ${before}`;
  const share = percent(Math.abs(now - then) / then, 0);
  return `, ${share} ${now > then ? 'more' : 'fewer'} than ${before}`;
}
