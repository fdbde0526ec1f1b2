// An automation as a person edits it, read from and written for the service.

import type { VariablesOf } from '../../graphql/index.ts';
import type { Kind } from '../../ui/index.ts';
import { filterOf, type Group, treeOf } from '../segments/index.ts';
import type { CreateAutomation } from './mutations.ts';
import type { Automation, Run } from './queries.ts';

export type Input = VariablesOf<typeof CreateAutomation>['automation'];
export type Trigger = Input['trigger'];
export type Action = Input['actions'][number];
export type Condition = NonNullable<Trigger['where']>[number];

/** An action with a key that stays with it while actions are moved. */
export interface Step {
  key: string;
  action: Action;
}

export interface Draft {
  name: string;
  trigger: Trigger;
  /** The conditions on the contact; null for every contact. */
  filter: Group | null;
  steps: Step[];
}

export const TRIGGERS: Record<Trigger['kind'], string> = {
  event: 'An event of a contact',
  missed_reply: 'A contact waits for a reply',
  schedule: 'A time of day',
  birthday: 'A yearly date of a contact',
};

export const ACTIONS: Record<Action['kind'], string> = {
  send: 'Send a text',
  add_tag: 'Add a tag',
  remove_tag: 'Remove a tag',
  set_stage: 'Set the stage',
  assign: 'Assign the contact',
  enroll: 'Begin a sequence',
  exit_drips: 'End all sequences',
  notify: 'Notify the owners',
  webhook: 'Report to webhooks',
  ai_on: 'Let AI agents answer',
  ai_off: 'Pause AI agents',
  wait: 'Wait',
};

/** The events that start runs, with the fields that conditions are often about. */
export const EVENTS: Record<string, string[]> = {
  new_message: ['body', 'to_number'],
  new_contact: ['source', 'pipeline_stage'],
  new_conversation: [],
  new_opt_out: [],
  message_delivered: [],
  message_failed: ['status_description'],
  pipeline_stage_changed: ['new_stage', 'old_stage'],
  contact_tag_added: ['tag'],
  contact_tag_removed: ['tag'],
  contact_dnd_changed: [],
  drip_completed: [],
  keyword_reply: ['keyword'],
};

export const COMPARISONS = [
  { value: 'eq', label: 'is' },
  { value: 'ne', label: 'is not' },
  { value: 'contains', label: 'contains' },
  { value: 'starts_with', label: 'starts with' },
];

export const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

export const STAGES = ['new_lead', 'contacted', 'qualified', 'proposal', 'won', 'lost'] as const;

export const RUN_STATES: Record<Run['status'], { kind: Kind; word: string }> = {
  running: { kind: 'warn', word: 'Running' },
  waiting: { kind: 'plain', word: 'Waits' },
  done: { kind: 'good', word: 'Done' },
  skipped: { kind: 'plain', word: 'Skipped' },
  canceled: { kind: 'plain', word: 'Canceled' },
  failed: { kind: 'bad', word: 'Failed' },
};

const FRESH: Record<Trigger['kind'], Partial<Trigger>> = {
  event: { event: 'new_contact', where: [] },
  missed_reply: { hours: 4 },
  schedule: { at: '10:00', weekdays: DAYS.slice(0, 5) },
  birthday: { field: '', at: '10:00' },
};

export function freshTrigger(kind: Trigger['kind']): Trigger {
  return { kind, ...FRESH[kind] };
}

export function freshStep(action: Action = { kind: 'send', body: '' }): Step {
  return { key: crypto.randomUUID(), action };
}

type Shown = Pick<Automation, 'name' | 'trigger' | 'actions'> & Partial<Pick<Automation, 'filter'>>;

function triggerOf({ kind, event, where, hours, field, at, weekdays }: Shown['trigger']): Trigger {
  const conditions = where?.map((each) => ({ field: each.field, op: each.op, value: each.value })) ?? null;
  return { kind, event, where: conditions, hours, field, at, weekdays };
}

function actionOf({ kind, body, tag, stage, user_id, sequence_id, text, minutes }: Shown['actions'][number]): Action {
  return { kind, body, tag, stage, user_id, sequence_id, text, minutes };
}

export function draftOf({ name, trigger, actions, filter }: Shown): Draft {
  const steps = actions.map((action) => freshStep(actionOf(action)));
  return { name, trigger: triggerOf(trigger), filter: filter ? treeOf(filter) : null, steps };
}

/** Return the fields as the service takes them. */
export function inputOf({ name, trigger, filter, steps }: Draft): Input {
  return {
    name: name.trim(),
    trigger,
    filter: filter && filterOf(filter),
    actions: steps.map(({ action }) => action),
  };
}

export function sends({ actions }: Pick<Automation, 'actions'>): boolean {
  return actions.some(({ kind }) => kind === 'send');
}
