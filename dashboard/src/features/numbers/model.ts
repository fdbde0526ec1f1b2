// The words and marks of the health of numbers and connections.

import type { Kind } from '../../ui/index.ts';
import type { CarrierConnection } from './queries.ts';

export const HEALTH: Record<'good' | 'watch' | 'poor' | 'unknown', { kind: Kind; word: string }> = {
  good: { kind: 'good', word: 'Good' },
  watch: { kind: 'warn', word: 'Watch' },
  poor: { kind: 'bad', word: 'Poor' },
  unknown: { kind: 'plain', word: 'Too few results' },
};

/** Return the state of a connection: what needs a person comes before what was chosen. */
export function stateOf({ status, health }: Pick<CarrierConnection, 'status' | 'health'>): {
  kind: Kind;
  word: string;
} {
  if (health.alerts.length > 0) return { kind: 'bad', word: 'Needs you' };
  if (status === 'paused') return { kind: 'warn', word: 'Paused' };
  return { kind: 'good', word: 'Active' };
}
