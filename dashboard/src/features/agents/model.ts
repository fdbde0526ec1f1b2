// The words of AI agents: their modes, and what became of their runs.

import type { Kind } from '../../ui/index.ts';
import type { Agent, Run, Verdict } from './queries.ts';

export const MODES: { value: Agent['mode']; label: string; meaning: string }[] = [
  { value: 'approve', label: 'Approve', meaning: 'Its drafts wait until a person sends them.' },
  { value: 'auto', label: 'Automatic', meaning: 'Its drafts are sent at once.' },
  { value: 'shadow', label: 'Shadow', meaning: 'Its drafts are only recorded, to try it on real texts.' },
];

export const OUTCOMES: Record<NonNullable<Run['outcome']>, { kind: Kind; word: string }> = {
  sent: { kind: 'good', word: 'Sent' },
  drafted: { kind: 'warn', word: 'Waits for approval' },
  discarded: { kind: 'plain', word: 'Discarded' },
  recorded: { kind: 'plain', word: 'Recorded only' },
  handed_over: { kind: 'warn', word: 'Handed over' },
  stopped: { kind: 'plain', word: 'Stopped' },
  superseded: { kind: 'plain', word: 'Overtaken' },
  failed: { kind: 'bad', word: 'Failed' },
};

export const ACTIONS: Record<Verdict['action'], { kind: Kind; word: string }> = {
  passed: { kind: 'good', word: 'Passed' },
  stop: { kind: 'bad', word: 'Stops: nothing is sent' },
  hand_over: { kind: 'warn', word: 'Hands over to people, with one text' },
  hand_over_silently: { kind: 'warn', word: 'Hands over to people, silently' },
};

export const DAYS: Agent['weekdays'] = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

export function labelOf(mode: Agent['mode']): string {
  return MODES.find(({ value }) => value === mode)?.label ?? mode;
}

/** Return the rule that decided; undefined where every rule passed. */
export function decisive(verdicts: Verdict[]): Verdict | undefined {
  return verdicts.find(({ action }) => action !== 'passed');
}
