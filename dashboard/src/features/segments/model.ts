// The filter of a segment as a tree of groups and conditions, read from and written for the service.

import type { VariablesOf } from '../../graphql/index.ts';
import { instantIn, localIn, zoneOf } from '../../ui/index.ts';
import { type ContactsSearch, oneOf } from '../contacts/index.ts';
import type { Field, SegmentPreviewed } from './queries.ts';

export const MATCHES = ['all', 'any', 'none'] as const;
export const UNITS = ['minutes', 'hours', 'days', 'weeks'] as const;
export const DEEPEST = 5;

const WITHOUT_VALUE: readonly string[] = ['is_set', 'is_empty'];
const WITH_MANY: readonly string[] = ['in', 'not_in', 'has_any', 'has_all', 'has_none'];
const RELATIVE: readonly string[] = ['within_last', 'not_within_last'];

export type Filter = VariablesOf<typeof SegmentPreviewed>['filter'];
export type Match = (typeof MATCHES)[number];
export type Operator = Field['operators'][number];

/** The texts that a condition counts; without a member, any. */
export type Counted = Pick<Filter, 'direction' | 'status' | 'within'>;

export interface Condition {
  key: string;
  field: string;
  op: Operator;
  values: string[];
  counted: Counted;
}

export interface Group {
  key: string;
  match: Match;
  nodes: Node[];
}

export type Node = Condition | Group;

/** The kind of the entry that the values of a condition need. */
export type Entry = 'none' | 'many' | 'duration' | 'two' | 'one';

export function entryOf(op: string): Entry {
  if (WITHOUT_VALUE.includes(op)) return 'none';
  if (WITH_MANY.includes(op)) return 'many';
  if (RELATIVE.includes(op)) return 'duration';
  return op === 'between' ? 'two' : 'one';
}

export function isGroup(node: Node): node is Group {
  return 'match' in node;
}

export function condition(field: string, op: Operator, values: string[] = [], counted: Counted = {}): Condition {
  return { key: crypto.randomUUID(), field, op, values, counted };
}

export function group(match: Match, nodes: Node[]): Group {
  return { key: crypto.randomUUID(), match, nodes };
}

/** Return the filter as the service takes it. */
export function filterOf(node: Node): Filter {
  if (isGroup(node)) return { [node.match]: node.nodes.map(filterOf) };
  const value = entryOf(node.op) === 'none' ? null : node.values;
  return { field: node.field, op: node.op, value, ...node.counted };
}

/** Return the tree of a saved filter; its root is a group. */
export function treeOf(filter: unknown): Group {
  const node = nodeOf(filter);
  return isGroup(node) ? node : group('all', [node]);
}

function nodeOf(filter: unknown): Node {
  const given = (filter ?? {}) as Record<string, unknown>;
  const match = MATCHES.find((each) => Array.isArray(given[each]));
  if (match) return group(match, (given[match] as unknown[]).map(nodeOf));
  const values = Array.isArray(given.value) ? given.value.map(String) : [];
  return condition(String(given.field), given.op as Operator, values, countedOf(given));
}

function countedOf({ direction, status, within }: Counted): Counted {
  return { ...(direction && { direction }), ...(status && { status }), ...(within && { within }) };
}

/** Return the place in the filter that a refusal names, such as `.all[0].value`; it is `.all[0]` for a whole condition. */
export function placeOf(refused?: { field?: string }): string | undefined {
  return /^(?:\w+\.)?filter(\..*)$/.exec(refused?.field ?? '')?.[1];
}

/** Tell whether every condition has the values that it needs. */
export function isComplete(node: Node): boolean {
  if (isGroup(node)) return node.nodes.length > 0 && node.nodes.every(isComplete);
  const entry = entryOf(node.op);
  if (entry === 'none') return true;
  const given = node.values.filter((value) => value.trim() !== '');
  return given.length >= (entry === 'two' ? 2 : 1);
}

/** Return the tree for the filters of the list of contacts. */
export function fromContacts({ search, stage, status, tag }: ContactsSearch): Group {
  const nodes: Node[] = [];
  if (search) {
    const fields = ['first_name', 'last_name', 'phone', 'email'];
    nodes.push(
      group(
        'any',
        fields.map((field) => condition(field, 'contains', [search])),
      ),
    );
  }
  if (stage) nodes.push(condition('pipeline_stage', 'eq', [stage]));
  if (status) nodes.push(condition('status', 'eq', [status]));
  if (tag) nodes.push(condition('tags', 'has_any', [tag]));
  return group('all', nodes.length > 0 ? nodes : [condition('tags', 'has_any')]);
}

/** Return the values for another operator: those that it can keep. */
export function keptValues(from: string, to: string, values: string[]): string[] {
  const [before, after] = [entryOf(from), entryOf(to)];
  if (before === after) return values;
  const isPlain = (entry: Entry) => entry === 'one' || entry === 'many' || entry === 'two';
  if (!isPlain(before) || !isPlain(after)) return [];
  return after === 'one' ? values.slice(0, 1) : values;
}

/** Return a duration such as `30 days` as its number and its unit. */
export function durationOf(value = ''): [number | '', (typeof UNITS)[number]] {
  const [number, unit = ''] = value.split(' ');
  return [number ? Number(number) : '', oneOf(UNITS, unit.replace(/s?$/, 's')) ?? 'days'];
}

/** Return an instant as the field of a browser shows it, in the person's zone. */
export function localOf(instant = ''): string {
  return localIn(zoneOf(), Date.parse(instant));
}

/** Return the instant that a person chose in their zone. */
export function instantOf(local: string): string {
  const time = instantIn(zoneOf(), local);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}
