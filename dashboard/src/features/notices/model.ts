// The kinds of notices in words, and the page that each leads to.

import type { LinkProps } from '@tanstack/react-router';
import type { Kind, Notice } from './queries.ts';

export const KINDS: Record<Kind, string> = {
  new_message: 'A contact writes in a conversation that is yours or not assigned',
  assigned: 'A colleague assigns a conversation to you',
  handed_over: 'An AI agent hands a conversation over',
  low_balance: 'The credits are running low',
  campaign: 'A campaign has ended, or was paused by itself',
  automation: 'An automation tells you something',
  webhook: 'A webhook is failing, or was disabled',
  integration: 'An integration has stopped with the key or user that it depends on',
  number: 'A sending number was paused, because its carrier refuses it',
};

/** Return the link to the record that a notice is about. */
export function targetOf({ kind, subject_id, contact_id, conversation }: Notice): LinkProps {
  if (conversation) return { to: '/inbox/$view/$id', params: { view: 'open', id: conversation.id } };
  if (contact_id) return { to: '/contacts/$id', params: { id: contact_id } };
  if (kind === 'low_balance') return { to: '/billing' };
  if (kind === 'campaign')
    return subject_id ? { to: '/campaigns/$id', params: { id: subject_id } } : { to: '/campaigns' };
  if (kind === 'webhook' && subject_id) return { to: '/settings/keys/webhooks/$id', params: { id: subject_id } };
  if (kind === 'integration' && subject_id) return { to: '/settings/integrations/$id', params: { id: subject_id } };
  if (kind === 'number' && subject_id) return { to: '/numbers/$id', params: { id: subject_id } };
  return kind === 'webhook' ? { to: '/settings/keys' } : { to: '/' };
}
