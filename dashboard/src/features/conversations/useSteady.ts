// Rows that keep their places while the pointer is over them: what moved meanwhile is counted, and moves on request.

import { useState } from 'react';
import type { Conversation } from '../../graphql/index.ts';

export interface Steady {
  rows: Conversation[];
  /** The number of conversations with texts that have come while the rows keep their places. */
  moved: number;
  hold: () => void;
  release: () => void;
}

export function useSteady(present: Conversation[]): Steady {
  const [held, setHeld] = useState<Conversation[]>();
  const hold = () => setHeld(present);
  const release = () => setHeld(undefined);
  return held ? { ...inPlace(held, present), hold, release } : { rows: present, moved: 0, hold, release };
}

/** Return the present state of the held rows in their order, and behind them the rows that were loaded since. */
function inPlace(held: Conversation[], present: Conversation[]): Pick<Steady, 'rows' | 'moved'> {
  const before = new Map(held.map((row) => [row.id, row.last_message_at]));
  const states = new Map(present.map((row) => [row.id, row]));
  const kept = held.flatMap(({ id }) => states.get(id) ?? []);
  const end = present.findLastIndex(({ id, last_message_at }) => before.get(id) === last_message_at);
  const later = present.slice(end + 1).filter(({ id }) => !before.has(id));
  const news = present.slice(0, end + 1).filter(({ id, last_message_at }) => before.get(id) !== last_message_at);
  return { rows: end < 0 ? present : [...kept, ...later], moved: news.length };
}
