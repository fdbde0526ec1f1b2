// The order of the conversations in the list, which tells the next one.

import { createStore } from '../../graphql/index.ts';

/** The ids of the conversations that the list shows, the first one first. */
export const order = createStore<number[]>([]);

const PHONE = '(max-width: 700px)';

/** Return the conversation to show after one has left the list; none on a phone, where the list comes back. */
export function nextOf(id: number): number | undefined {
  if (window.matchMedia(PHONE).matches) return undefined;
  const ids = order.get();
  const place = ids.indexOf(id);
  return place < 0 ? undefined : (ids[place + 1] ?? ids[place - 1]);
}
