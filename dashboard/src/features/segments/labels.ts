// The words for fields, operators and groups.

import { words } from '../../ui/index.ts';
import type { Match, Operator } from './model.ts';
import type { Field } from './queries.ts';

const FIELDS: Record<string, string> = {
  dnd_sms: 'Do not disturb',
  is_held: 'Waits for a decision',
  assignee_id: 'Assigned to',
  state: 'State of the USA',
  pipeline_stage: 'Stage',
  created_at: 'Added',
  updated_at: 'Changed',
  last_inbound_at: 'Last text from them',
  last_outbound_at: 'Last text to them',
  message_count: 'Number of texts',
  opted_out_at: 'Opted out',
  replied_to: 'Replied to campaigns',
  enrolled_in: 'Under way in sequences',
};

const OPERATORS: Record<Operator, string> = {
  eq: 'is',
  ne: 'is not',
  in: 'is one of',
  not_in: 'is none of',
  contains: 'contains',
  starts_with: 'starts with',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  between: 'is between',
  before: 'is before',
  after: 'is after',
  within_last: 'is within the last',
  not_within_last: 'is not within the last',
  has_any: 'has any of',
  has_all: 'has all of',
  has_none: 'has none of',
  is_set: 'is known',
  is_empty: 'is not known',
};

const OF_IDS: Partial<Record<Operator, string>> = {
  has_any: 'any of',
  has_all: 'all of',
  has_none: 'none of',
  is_set: 'at least one',
  is_empty: 'none',
};

export function operatorOf(op: Operator, kind?: Field['kind']): string {
  return (kind === 'ids' && OF_IDS[op]) || OPERATORS[op];
}

export const GROUPS: Record<Match, string> = {
  all: 'All of these are true',
  any: 'At least one of these is true',
  none: 'None of these is true',
};

export function labelOf({ name, description }: Pick<Field, 'name' | 'description'>): string {
  if (name.startsWith('custom.')) return description || name;
  return FIELDS[name] ?? words(name);
}
