// The commands of the palette: pages, actions, and the records chosen before.

import { ENTRIES, FOOT } from './navigation.ts';

export interface Command {
  key: string;
  group: string;
  label: string;
  detail?: string;
  /** The address of the page that it leads to. */
  to: string;
  hash?: string;
}

interface Offered extends Command {
  scope: string;
}

const ACTIONS: Offered[] = [
  action('New text', '/inbox/open', 'messages:send', 'new'),
  action('New contact', '/contacts', 'contacts:write', 'new'),
  action('Import contacts', '/contacts/import', 'contacts:write'),
  action('New campaign', '/campaigns', 'campaigns:write', 'new'),
  action('New sequence', '/sequences/new', 'campaigns:write'),
  action('New template', '/templates/new', 'campaigns:write'),
  action('New segment', '/segments/new', 'campaigns:write'),
  action('New automation', '/automations/new', 'campaigns:write'),
  action('New agent', '/agents', 'agents:write', 'new'),
  action('Add credits', '/billing', 'billing:write'),
  action('Transactions', '/billing/transactions', 'billing:read'),
  action('Decide on possible opt-outs', '/inbox/possible-opt-out', 'conversations:write'),
  action('Create an API key or a webhook', '/settings/keys', 'account:write'),
  action('Invite people', '/settings/people', 'account:write'),
];

const PAGES: Offered[] = [...ENTRIES, ...FOOT].map(({ to, label, scope }) => ({
  key: `page ${to}`,
  group: 'Pages',
  label,
  to,
  scope,
}));

function action(label: string, to: string, scope: string, hash?: string): Offered {
  return { key: `action ${label}`, group: 'Actions', label, to, hash, scope };
}

/** Return the actions and pages of a person whose name contains a text. */
export function commandsFor(text: string, scopes: readonly string[]): Command[] {
  const wanted = text.toLowerCase();
  return [...ACTIONS, ...PAGES].filter(
    ({ label, scope }) => scopes.includes(scope) && label.toLowerCase().includes(wanted),
  );
}

const GROUPS: Record<string, { title: string; path: string }> = {
  contact: { title: 'Contacts', path: '/contacts' },
  conversation: { title: 'Conversations', path: '/inbox/open' },
  campaign: { title: 'Campaigns', path: '/campaigns' },
  sequence: { title: 'Sequences', path: '/sequences' },
  segment: { title: 'Segments', path: '/segments' },
  template: { title: 'Templates', path: '/templates' },
  automation: { title: 'Automations', path: '/automations' },
  agent: { title: 'AI agents', path: '/agents' },
  number: { title: 'Numbers', path: '/numbers' },
};

interface Found {
  kind: string;
  id: number;
  name: string;
  detail: string;
}

/** Return the command that leads to a record. */
export function commandOf({ kind, id, name, detail }: Found): Command {
  const { title = '', path = '' } = GROUPS[kind] ?? {};
  return { key: `${kind} ${id}`, group: title, label: name, detail, to: `${path}/${id}` };
}

const MOST_RECENT = 5;

const place = (userId: number) => `recent-commands:${userId}`;

/** Return what a person chose last. */
export function recentOf(userId: number): Command[] {
  const stored: Command[] = JSON.parse(localStorage.getItem(place(userId)) ?? '[]');
  return stored.map((each) => ({ ...each, key: `recent ${each.key}`, group: 'Recent' }));
}

export function remember(userId: number, chosen: Command): void {
  const key = chosen.key.replace(/^recent /, '');
  const others = recentOf(userId).map((each) => ({ ...each, key: each.key.replace(/^recent /, '') }));
  const kept = [{ ...chosen, key }, ...others.filter((each) => each.key !== key)].slice(0, MOST_RECENT);
  localStorage.setItem(place(userId), JSON.stringify(kept));
}
