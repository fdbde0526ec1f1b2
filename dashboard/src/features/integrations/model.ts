// The health of an integration in words, with the next act; and secrets made in the browser.

import { type Kind as Mark, plural } from '../../ui/index.ts';
import type { Crm, Integration } from './queries.ts';

export const WEBHOOK = 'webhook';

export interface Health {
  mark: Mark;
  word: string;
  advice?: string;
}

const STOPPED: Health = {
  mark: 'bad',
  word: 'Stopped',
  advice:
    'The key, application or person that it depends on has ended. Resume it to take it over. If its secret may be known to others, make a new one.',
};

/** Return the health of an integration that posts events to the service. */
export function healthOf({
  status,
  creator_ended_at,
  received,
  failed,
  refused,
  last_received_at,
  last_refused_at,
}: Integration): Health {
  if (creator_ended_at) return STOPPED;
  if (status === 'paused')
    return { mark: 'plain', word: 'Paused', advice: 'Its events wait. Resume it to apply them.' };
  if (last_refused_at && (!last_received_at || last_refused_at > last_received_at))
    return {
      mark: 'bad',
      word: 'Wrong secret',
      advice: `${plural(refused, 'event was', 'events were')} refused, because the secret was wrong. Give the other side the secret once more, or make a new one.`,
    };
  if (received === 0) return { mark: 'warn', word: 'Waiting for the first event' };
  if (failed > 0)
    return {
      mark: 'warn',
      word: `${plural(failed, 'event')} failed`,
      advice: 'Read the reason in the list of events, remove the cause, and apply them again.',
    };
  return { mark: 'good', word: 'Working' };
}

/** Return the health of a connection to a CRM. */
export function crmHealthOf(
  { state, error, resting_until }: Crm,
  { status, creator_ended_at }: Pick<Integration, 'status' | 'creator_ended_at'>,
): Health {
  if (creator_ended_at) return STOPPED;
  if (status === 'paused')
    return { mark: 'plain', word: 'Paused', advice: 'Nothing is exchanged. Resume it to go on.' };
  if (state === 'lost')
    return { mark: 'bad', word: 'Connection lost', advice: 'The CRM refuses the authorization. Connect it again.' };
  if (resting_until && new Date(resting_until).getTime() > Date.now())
    return { mark: 'warn', word: 'Calls to the CRM pause', advice: `${error} The calls go on by themselves.` };
  return { mark: 'good', word: 'Connected' };
}

export const SYNCS: Record<Crm['sync'], string> = {
  fetching: 'The contacts of the CRM are fetched.',
  offering: 'The contacts that the CRM lacks are added there.',
  done: 'All contacts are synchronized. Changes of either side follow at once.',
};

/** Make a secret of 256 random bits. */
export function makeSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
