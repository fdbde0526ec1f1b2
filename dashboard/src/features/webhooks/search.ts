// The filters of the deliveries of a webhook, as its address holds them.

import type { Deliveries } from './queries.ts';
import type { VariablesOf } from '../../graphql/index.ts';
import { midnight } from '../../ui/index.ts';

export type Status = NonNullable<VariablesOf<typeof Deliveries>['status']>;
export type Answer = NonNullable<VariablesOf<typeof Deliveries>['answer']>;

export const STATES: Status[] = ['pending', 'delivered', 'failed', 'skipped', 'canceled'];
export const ANSWERS: Record<Answer, string> = {
  success: '2xx: delivered',
  redirect: '3xx',
  client_error: '4xx',
  server_error: '5xx',
  none: 'No answer',
};

export interface DeliverySearch {
  status?: Status;
  event?: string;
  answer?: Answer;
  contact?: number;
  since?: string;
  until?: string;
}

/** Return the filters of an address; those that are not valid are left out. */
export function deliverySearch(search: Record<string, unknown>): DeliverySearch {
  const { status, event, answer, contact, since, until } = search;
  return {
    status: STATES.find((each) => each === status),
    event: typeof event === 'string' ? event : undefined,
    answer: (Object.keys(ANSWERS) as Answer[]).find((each) => each === answer),
    contact: Number.isSafeInteger(contact) ? (contact as number) : undefined,
    since: dayOf(since),
    until: dayOf(until),
  };
}

/** Return the variables of the list; both days are part of it. */
export function wanted({ status, event, answer, contact, since, until }: DeliverySearch) {
  return {
    status: status ?? null,
    event: event ?? null,
    answer: answer ?? null,
    contact_id: contact ?? null,
    since: since ? midnight(since) : null,
    until: until ? midnight(until, 1) : null,
  };
}

function dayOf(text: unknown): string | undefined {
  return typeof text === 'string' && !Number.isNaN(Date.parse(`${text}T00:00:00`)) ? text : undefined;
}
