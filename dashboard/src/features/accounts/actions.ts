// The actions of the audit log, and the filters in its address.

import type { Entry } from './queries.ts';

export type Action = Entry['action'];

const ALL: Record<Action, true> = {
  account_changed: true,
  account_deletion_requested: true,
  account_deletion_withdrawn: true,
  account_exported: true,
  account_resumed: true,
  account_suspended: true,
  application_connected: true,
  application_cut_off: true,
  application_disconnected: true,
  carrier_connection_added: true,
  carrier_connection_paused: true,
  carrier_connection_removed: true,
  carrier_connection_resumed: true,
  carrier_connection_rotated: true,
  consent_link_made: true,
  contacts_merged: true,
  export_link_made: true,
  integration_added: true,
  integration_paused: true,
  integration_removed: true,
  integration_resumed: true,
  integration_rotated: true,
  integration_taken_over: true,
  invitation_withdrawn: true,
  job_link_made: true,
  key_created: true,
  key_revoked: true,
  key_rotated: true,
  oauth_client_created: true,
  oauth_client_revoked: true,
  oauth_client_secret_rotated: true,
  oauth_client_taken_over: true,
  password_reset_asked: true,
  password_set: true,
  quiet_hours_added: true,
  quiet_hours_removed: true,
  role_changed: true,
  session_ended: true,
  sign_in_refused: true,
  signed_in: true,
  signed_out: true,
  user_changed: true,
  user_invited: true,
  user_removed: true,
  webhook_secret_revealed: true,
  webhook_secret_rotated: true,
};

export const ACTIONS = Object.keys(ALL) as Action[];

export interface AuditSearch {
  action?: Action;
  actor?: string;
  since?: string;
  until?: string;
}

/** Return the filters of an address; those that are not valid are left out. */
export function auditSearch(search: Record<string, unknown>): AuditSearch {
  const { action, actor, since, until } = search;
  return {
    action: ACTIONS.find((each) => each === action),
    actor: typeof actor === 'string' && /^[a-z]+(:[\w-]+)?$/.test(actor) ? actor : undefined,
    since: dayOf(since),
    until: dayOf(until),
  };
}

function dayOf(text: unknown): string | undefined {
  return typeof text === 'string' && !Number.isNaN(Date.parse(`${text}T00:00:00`)) ? text : undefined;
}
