// The views of the inbox: which conversations each one lists.

import type { VariablesOf } from '../../graphql/index.ts';
import type { Inbox } from './queries.ts';

export const VIEWS = [
  { name: 'open', label: 'Open', empty: 'No open conversation. New texts appear here at once.' },
  { name: 'mine', label: 'Mine', empty: 'No open conversation is assigned to you.' },
  { name: 'unassigned', label: 'Unassigned', empty: 'Every open conversation is assigned to someone.' },
  { name: 'unread', label: 'Unread', empty: 'Everything is read.' },
  { name: 'snoozed', label: 'Snoozed', empty: 'No conversation is put off.' },
  { name: 'possible-opt-out', label: 'Opt-out?', empty: 'No reply waits for a decision.' },
  { name: 'closed', label: 'Closed', empty: 'No conversation is closed.' },
] as const;

export type View = (typeof VIEWS)[number]['name'];

export function isView(name: string): name is View {
  return VIEWS.some((view) => view.name === name);
}

type Filter = Omit<VariablesOf<typeof Inbox>, 'after'>;

const ALL: Filter = { unread_only: false, unassigned: false, possible_opt_out: false, search: null };

export function filterOf(view: View, userId: number, search: string): Filter {
  const filters: Record<View, Partial<Filter>> = {
    open: { status: 'open' },
    mine: { status: 'open', assignee_id: userId },
    unassigned: { status: 'open', unassigned: true },
    unread: { unread_only: true },
    snoozed: { status: 'snoozed' },
    'possible-opt-out': { possible_opt_out: true },
    closed: { status: 'closed' },
  };
  return search ? { ...ALL, search } : { ...ALL, ...filters[view] };
}
