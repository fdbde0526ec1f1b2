// The figures of a campaign in words: states in groups, progress, reasons of a pause with the next step.

import { count, plural, type Tone, words } from '../../ui/index.ts';
import type { Campaign } from './queries.ts';
import { STATES } from './routes.ts';

export type State = (typeof STATES)[number];
export type Counts = Campaign['counts'];

export const STATE_WORDS: Record<State, { word: string; tone: Tone; meaning: string }> = {
  delivered: { word: 'Delivered', tone: 'good', meaning: 'The text reached the phone.' },
  sent: { word: 'Sent', tone: 'doing', meaning: 'The carrier took the text; its report is not in yet.' },
  failed: { word: 'Failed', tone: 'bad', meaning: 'The text did not arrive, and was refunded.' },
  queued: { word: 'Waiting', tone: 'waiting', meaning: 'The text waits for its turn.' },
  deferred: { word: 'Due later', tone: 'waiting', meaning: 'The text waits for the local time of the person.' },
  claimed: {
    word: 'Accepted',
    tone: 'waiting',
    meaning: 'The text is paid for, and waits for its carrier or its hour.',
  },
  suppressed: { word: 'Left out', tone: 'plain', meaning: 'The person gets no text.' },
  canceled: { word: 'Canceled', tone: 'plain', meaning: 'The campaign was canceled before the text left.' },
};

const FINAL: State[] = ['delivered', 'failed', 'canceled'];

/** The people of the audience, those of them who get a text, and the share of these with a final state. */
export interface Progressed {
  audience: number;
  people: number;
  states: Record<State, number>;
  percent: number;
  credits: number;
}

export function progressOf(counts: Counts): Progressed {
  const states = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
  for (const { state, recipients } of counts) states[state] += recipients;
  const audience = counts.reduce((sum, { recipients }) => sum + recipients, 0);
  const people = audience - states.suppressed;
  const final = FINAL.reduce((sum, state) => sum + states[state], 0);
  const credits = counts.reduce((sum, each) => sum + each.credits, 0);
  return { audience, people, states, percent: people > 0 ? Math.floor((final / people) * 100) : 0, credits };
}

/** Return the groups of one or more states, the largest first. */
export function groupsOf(counts: Counts, wanted: State[]) {
  return counts
    .filter(({ state, reason, recipients }) => wanted.includes(state) && reason !== '' && recipients > 0)
    .sort((one, other) => other.recipients - one.recipients);
}

/** Return the course of a campaign in a sentence. */
export function courseOf({ status }: Pick<Campaign, 'status'>, { people, states }: Progressed): string {
  const waiting = states.queued + states.deferred + states.claimed;
  if (status === 'completed' && states.sent > 0)
    return `Every text has left. Reports of ${count(states.sent)} of them may still come in.`;
  if (status === 'completed') return `Every text has left, and every report is in.`;
  if (status === 'canceled') return `${count(states.canceled)} of ${plural(people, 'person', 'people')} got no text.`;
  if (people === 0) return 'done: the audience is being read.';
  return `done: ${count(waiting)} of ${plural(people, 'text')} ${waiting === 1 ? 'has' : 'have'} not left yet.`;
}

interface Pause {
  text: string;
  link?: { to: '/billing' | '/numbers' | '/settings'; label: string };
}

export const PAUSES: Record<NonNullable<Campaign['reason']>, Pause> = {
  requested: { text: 'A person paused it. Nobody gets a text twice when it goes on.' },
  insufficient_credits: {
    text: 'The balance does not pay for the next text. It goes on by itself after a top-up.',
    link: { to: '/billing', label: 'Add credits' },
  },
  over_max_credits: { text: 'It would cost more than was allowed. Nothing was sent: allow more, or cancel it.' },
  account: { text: 'The account is suspended, or is about to be deleted.' },
  credential_ended: {
    text: 'The person who sent it may not send campaigns any more. Resume it to become its sender.',
  },
  no_sending_number: {
    text: 'There is no active number that it could leave from.',
    link: { to: '/numbers', label: 'See the numbers' },
  },
  filtered: {
    text: 'Carriers filtered more than 10% of its last 200 texts as unwanted. Remove the cause before you resume it.',
  },
  opt_outs: { text: 'More than 3% of its last 200 recipients opted out. Look at the audience before it goes on.' },
  sender_refused: {
    text: 'The carrier refused the sender six times in a row.',
    link: { to: '/numbers', label: 'See the numbers' },
  },
  no_recipients: { text: 'Nobody of its audience may be texted.' },
};

/** Return the names of time zones as people read them: the cities, without their continents. */
export function placesOf(zones: string[]): string {
  return zones.map((zone) => zone.split('/').at(-1)?.replaceAll('_', ' ') ?? zone).join(', ');
}

const REASONS: Record<string, string> = {
  dnd: 'Do not disturb',
  possible_opt_out_hold: 'May have asked to stop',
  excluded: 'With an excluded tag',
  excluded_segment: 'In the excluded segment',
  no_consent: 'No recorded consent',
  unreachable_history: 'Not reached lately',
  missing_merge_field: 'A value is not known',
  deferred: 'Waits for an allowed hour',
};

/** Return the reason of a state in a few words. */
export function reasonOf(reason: string): string {
  return REASONS[reason] ?? words(reason);
}
