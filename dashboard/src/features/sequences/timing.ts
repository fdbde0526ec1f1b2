// The time of a step in words.

import { plural } from '../../ui/index.ts';

export interface Timing {
  delay_days: number;
  delay_minutes: number;
  at: string | null;
}

const HOUR = 60;

/** Return when a step is sent, after the step before it or after the enrollment. */
export function timingOf({ delay_days: days, delay_minutes: minutes, at }: Timing, isFirst: boolean): string {
  const [hours, rest] = [Math.floor(minutes / HOUR), minutes % HOUR];
  const parts = [
    days > 0 && plural(days, 'day'),
    hours > 0 && plural(hours, 'hour'),
    rest > 0 && plural(rest, 'minute'),
  ].filter(Boolean);
  const clock = at ? `at ${at} of their day` : '';
  if (parts.length === 0)
    return clock ? `The next time it is ${at} where they are` : isFirst ? 'At once' : 'At the same time';
  return `${parts.join(', ')} ${isFirst ? 'after they are enrolled' : 'later'}${clock && `, ${clock}`}`;
}
