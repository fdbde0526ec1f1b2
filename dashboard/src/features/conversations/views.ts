// The views of the inbox and the filters in its address: which conversations are listed, and in which order.

import type { Conversation, VariablesOf } from '../../graphql/index.ts';
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

/** The filters in the address, which all views share: an unknown value becomes the default. */
export interface InboxSearch {
  search?: string;
  number?: number;
  sort?: 'oldest_waiting';
}

export function validated(given: Record<string, unknown>): InboxSearch {
  const number = Number(given.number);
  return {
    search: given.search ? String(given.search) : undefined,
    number: number > 0 && Number.isSafeInteger(number) ? number : undefined,
    sort: given.sort === 'oldest_waiting' ? 'oldest_waiting' : undefined,
  };
}

type Filter = Omit<VariablesOf<typeof Inbox>, 'after'>;

const ALL: Filter = { unread_only: false, unassigned: false, possible_opt_out: false, sort: 'latest' };

const FILTERS: Record<View, Partial<Filter>> = {
  open: { status: 'open' },
  mine: { status: 'open' },
  unassigned: { status: 'open', unassigned: true },
  unread: { unread_only: true },
  snoozed: { status: 'snoozed' },
  'possible-opt-out': { possible_opt_out: true },
  closed: { status: 'closed' },
};

/** Return the variables of a list. A search reads the conversations of all views. */
export function filterOf(view: View, userId: number, { search, number, sort }: InboxSearch): Filter {
  const chosen: Filter = { ...ALL, phone_number_id: number, sort: sort ?? 'latest' };
  if (search) return { ...chosen, search };
  return { ...chosen, ...FILTERS[view], ...(view === 'mine' && { assignee_id: userId }) };
}

/** Tell whether a conversation that was listed is still part of the list; its number and contact do not change. */
export function isListed(conversation: Conversation, { status, assignee_id, ...filter }: Filter): boolean {
  if (status && conversation.status !== status) return false;
  if (assignee_id && conversation.assignee_id !== assignee_id) return false;
  if (filter.unassigned && conversation.assignee_id !== null) return false;
  if (filter.unread_only && conversation.unread_count === 0) return false;
  return !filter.possible_opt_out || conversation.possible_opt_out;
}
