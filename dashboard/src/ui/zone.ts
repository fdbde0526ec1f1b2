// Times on the clock of a zone, such as 2026-11-27T10:00, and the instants that they mean there.

import { zoneOf } from './place.ts';

const DAY = 24 * 60 * 60_000;

const FIELDS = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
  hourCycle: 'h23',
} as const;

const clocks = new Map<string, Intl.DateTimeFormat>();

/**
 * Return the instant that a time means in a zone. A time that the clock skips is as long after the change as it says;
 * of a time that comes twice, the first one is meant. What is not a time is an invalid date.
 */
export function instantIn(zone: string, local: string): Date {
  return instantOf(zone, Date.parse(`${local}Z`));
}

/** Return the time on the clock of a zone to the minute, as the fields of a browser take it. */
export function localIn(zone: string, time: Date | number): string {
  return written(clockOf(zone, Number(time)));
}

/** Return the time at an hour, some days after a day of a zone. */
export function hourIn(zone: string, day: string, days: number, hour = 0): Date {
  return instantOf(zone, Date.parse(`${day.slice(0, 10)}T00:00Z`) + days * DAY + hour * 60 * 60_000);
}

/** Return the beginning of a day of the viewer, some days later, as an instant. */
export function midnight(day: string, later = 0): string {
  return hourIn(zoneOf(), day, later).toISOString();
}

function written(clock: number): string {
  return Number.isNaN(clock) ? '' : new Date(clock).toISOString().slice(0, 16);
}

/** Return the instant at which the clock of a zone shows a time; both are in milliseconds. */
function instantOf(zone: string, clock: number): Date {
  if (Number.isNaN(clock)) return new Date(Number.NaN);
  const [before, after] = [clock - DAY, clock + DAY].map((near) => clockOf(zone, near) - near) as [number, number];
  const isShown = (offset: number) => clockOf(zone, clock - offset) === clock;
  return new Date(clock - (!isShown(before) && isShown(after) ? after : before));
}

/** Return what the clock of a zone shows at an instant, as if it were UTC. */
function clockOf(zone: string, time: number): number {
  if (Number.isNaN(time)) return time;
  let clock = clocks.get(zone);
  if (!clock) {
    clock = new Intl.DateTimeFormat('en-US', { ...FIELDS, timeZone: zone });
    clocks.set(zone, clock);
  }
  const shown: Record<string, number> = {};
  for (const { type, value } of clock.formatToParts(time)) shown[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  return at.setUTCHours(hour, minute, second);
}
