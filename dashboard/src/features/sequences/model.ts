// A sequence while it is written: its texts with their keys, what ends it early, the hours of its texts.

import type { VariablesOf } from '../../graphql/index.ts';
import { words } from '../../ui/index.ts';
import type { UpdateSequence } from './mutations.ts';
import type { Sequence } from './queries.ts';

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export const MOST_STEPS = 50;

/** A text while it is written; `known` is the key of the saved text that it continues. */
export interface StepDraft {
  key: string;
  known: number | null;
  days: number;
  hours: number;
  /** A time of the recipient's day such as 10:00; empty for none. */
  at: string;
  body: string;
}

export interface SequenceDraft {
  name: string;
  steps: StepDraft[];
  exits: Sequence['exits'];
  window: Sequence['window'];
  re_enroll_after_days: number | null;
  skips_refused: boolean;
}

export type Changes = VariablesOf<typeof UpdateSequence>['changes'];

export function newStep(days: number): StepDraft {
  return { key: crypto.randomUUID(), known: null, days, hours: 0, at: '', body: '' };
}

export const EMPTY: Omit<SequenceDraft, 'steps'> = {
  name: '',
  exits: { on_reply: true, stages: [], tags: [] },
  window: null,
  re_enroll_after_days: 0,
  skips_refused: false,
};

export function draftOf(sequence: Sequence): SequenceDraft {
  const { name, exits, window, re_enroll_after_days, skips_refused } = sequence;
  const steps = sequence.steps.map(({ key, delay_days, delay_minutes, at, body }) => ({
    key: String(key),
    known: key,
    days: delay_days,
    hours: delay_minutes / 60,
    at: at ?? '',
    body,
  }));
  return { name, steps, exits, window, re_enroll_after_days, skips_refused };
}

/** Return the texts as the service takes them: those that changed places are new ones, which have no key. */
export function stepsOf(steps: StepDraft[]) {
  const kept = longestRise(steps.flatMap(({ known }) => (known === null ? [] : [known])));
  return steps.map(({ known, days, hours, at, body }) => ({
    key: known !== null && kept.has(known) ? known : null,
    delay_days: days,
    delay_minutes: Math.round(hours * 60),
    at: at || null,
    body,
  }));
}

/** Return what differs from the saved sequence. */
export function changesOf(saved: SequenceDraft, draft: SequenceDraft): Changes {
  const { steps, ...others } = draft;
  const differs = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);
  const names = (Object.keys(others) as (keyof typeof others)[]).filter((name) => differs(saved[name], draft[name]));
  const changes: Changes = Object.fromEntries(names.map((name) => [name, draft[name]]));
  return differs(stepsOf(saved.steps), stepsOf(steps)) ? { ...changes, steps: stepsOf(steps) } : changes;
}

/** Return the most keys that stand in their rising order: those of the texts that stay where they are. */
function longestRise(keys: number[]): Set<number> {
  const best: number[][] = [];
  for (const [index, key] of keys.entries()) {
    const before = best.slice(0, index).filter((run) => (run.at(-1) ?? 0) < key);
    const longest = before.reduce<number[]>((most, run) => (run.length > most.length ? run : most), []);
    best.push([...longest, key]);
  }
  return new Set(best.reduce<number[]>((most, run) => (run.length > most.length ? run : most), []));
}

/** Return what ends a sequence early, in a sentence. */
export function exitsInWords({ on_reply, stages, tags }: Sequence['exits']): string {
  const causes = [
    on_reply && 'replies',
    stages.length > 0 && `comes to the stage ${stages.map((stage) => words(stage).toLowerCase()).join(' or ')}`,
    tags.length > 0 && `gets the tag ${tags.join(' or ')}`,
    'opts out',
  ].filter(Boolean);
  return `It ends early for a person who ${causes.slice(0, -1).join(', ')}${causes.length > 1 ? ' or ' : ''}${causes.at(-1)}.`;
}

/** Return the hours in which the texts leave, in a sentence. */
export function windowInWords(window: Sequence['window']): string {
  if (!window) return 'Its texts leave at any hour that quiet hours allow.';
  const days =
    window.weekdays.length === 0 || window.weekdays.length === 7 ? 'every day' : window.weekdays.map(words).join(', ');
  return `Its texts leave from ${window.start} to ${window.end} where the person is, ${days}.`;
}
