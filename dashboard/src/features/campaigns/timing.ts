// The time of a campaign: at once, at a time, or at a time on the clock of each recipient.

import { hourIn, instantIn, localIn, timeIn, zoneOf } from '../../ui/index.ts';
import type { CampaignSearch, WHENS } from './routes.ts';

export interface Timing {
  when: (typeof WHENS)[number];
  /** A date and a time of the day, such as 2026-11-27T10:00; empty for none yet. */
  at: string;
}

const WRITTEN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;

export function timingOf({ when = 'now', at = '' }: CampaignSearch): Timing {
  return { when, at: WRITTEN.test(at) && !Number.isNaN(Date.parse(`${at}Z`)) ? at : '' };
}

/** Return the times as the service takes them; undefined while the time is missing. */
export function startOf({ when, at }: Timing): { at: string | null; local_at: string | null } | undefined {
  if (when === 'now') return { at: null, local_at: null };
  if (!at) return undefined;
  return when === 'at' ? { at: instantIn(zoneOf(), at).toISOString(), local_at: null } : { at: null, local_at: at };
}

/** Tell whether a time is past for everyone: the last clocks on Earth are 12 hours behind UTC. */
export function isPast({ when, at }: Timing, now = Date.now()): boolean {
  if (when === 'now' || !at) return false;
  if (when === 'at') return instantIn(zoneOf(), at).getTime() <= now;
  return Date.parse(`${at}Z`) + 12 * 3_600_000 <= now;
}

/** Return a time as fields for dates take it, on the clock of the viewer. */
export function written(time: Date): string {
  return localIn(zoneOf(), time);
}

/** Return the next day at an hour, on the clock of the viewer. */
export function tomorrowAt(hour: number, now = new Date()): string {
  return written(hourIn(zoneOf(), written(now), 1, hour));
}

const DATED = { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' } as const;

/** Return a time that is written without a zone, in words. */
export function inWords(at: string): string {
  return timeIn(DATED, new Date(`${at}Z`));
}
