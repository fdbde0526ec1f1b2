// The pages of the navigation, each with the scope that it needs.

import type { IconName } from '../ui/index.ts';

export interface Entry {
  to: string;
  label: string;
  icon: IconName;
  scope: string;
  key?: string;
}

export const ENTRIES: Entry[] = [
  { to: '/', label: 'Home', icon: 'home', scope: 'account:read', key: 'h' },
  { to: '/inbox', label: 'Inbox', icon: 'inbox', scope: 'conversations:read', key: 'i' },
  { to: '/contacts', label: 'Contacts', icon: 'contacts', scope: 'contacts:read', key: 'c' },
  { to: '/campaigns', label: 'Campaigns', icon: 'campaigns', scope: 'campaigns:read', key: 'm' },
  { to: '/sequences', label: 'Sequences', icon: 'sequences', scope: 'campaigns:read', key: 'q' },
  { to: '/templates', label: 'Templates', icon: 'templates', scope: 'campaigns:read', key: 't' },
  { to: '/segments', label: 'Segments', icon: 'segments', scope: 'campaigns:read', key: 'e' },
  { to: '/automations', label: 'Automations', icon: 'automations', scope: 'account:read' },
  { to: '/keywords', label: 'Keywords', icon: 'keywords', scope: 'campaigns:read', key: 'k' },
  { to: '/agents', label: 'AI agents', icon: 'agents', scope: 'agents:read', key: 'a' },
  { to: '/numbers', label: 'Numbers', icon: 'numbers', scope: 'numbers:read', key: 'n' },
];

export const FOOT: Entry[] = [
  { to: '/billing', label: 'Billing', icon: 'billing', scope: 'billing:read', key: 'b' },
  { to: '/settings', label: 'Settings', icon: 'settings', scope: 'account:read', key: 's' },
];

/** The pages that keys lead to. */
export const PLACES = [...ENTRIES, ...FOOT].filter(({ key }) => key);
