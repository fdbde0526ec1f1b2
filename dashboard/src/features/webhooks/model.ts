// The events that a webhook may receive, which docs/events.md describes, and its figures in words.

import { percent } from '../../ui/index.ts';

export const EVENTS = [
  'message.inbound',
  'message.sent',
  'message.delivered',
  'message.failed',
  'contact.created',
  'contact.opted_out',
  'automation.webhook',
];

export interface Stats {
  attempts: number;
  success_share: number | null;
  p95_seconds: number | null;
}

/** Return the share of successful attempts of the last day, and the time in which nearly all answers came. */
export function figures({ success_share, p95_seconds }: Stats): string {
  if (success_share === null) return 'No attempt';
  const share = percent(success_share);
  return p95_seconds === null ? share : `${share}, 95 % within ${duration(p95_seconds)}`;
}

function duration(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}
