// The series of a chart, and the names of its periods.

import { localeOf, zoneOf } from './place.ts';

export type Period = 'hour' | 'day' | 'week' | 'month';

export interface Series {
  label: string;
  /** One value for each period; null where there is none. */
  values: (number | null)[];
  /** The number of the chart color. */
  color?: 1 | 2 | 3 | 4;
  /** True for the values of the period before, which are dashed. */
  isBefore?: boolean;
}

const TICKS: Record<Period, Intl.DateTimeFormatOptions> = {
  hour: { hour: 'numeric' },
  day: { day: 'numeric', month: 'short' },
  week: { day: 'numeric', month: 'short' },
  month: { month: 'short' },
};

const SPANS: Record<Period, Intl.DateTimeFormatOptions> = {
  hour: { weekday: 'short', hour: 'numeric', minute: '2-digit' },
  day: { weekday: 'short', day: 'numeric', month: 'short' },
  week: { day: 'numeric', month: 'short' },
  month: { month: 'long', year: 'numeric' },
};

/** Return the name of a period on the axis. */
export function tickOf(period: Period, start: string, timeZone = zoneOf()): string {
  return new Intl.DateTimeFormat(localeOf(), { ...TICKS[period], timeZone }).format(new Date(start));
}

/** Return the name of a period in a sentence. */
export function spanOf(period: Period, start: string, timeZone = zoneOf()): string {
  const text = new Intl.DateTimeFormat(localeOf(), { ...SPANS[period], timeZone }).format(new Date(start));
  return period === 'week' ? `Week of ${text}` : text;
}
