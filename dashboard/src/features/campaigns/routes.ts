import { createRoute } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { oneOf } from '../contacts/search.ts';

export const STATUSES = ['draft', 'scheduled', 'sending', 'paused', 'completed', 'canceled', 'failed'] as const;
export const STATES = [
  'delivered',
  'sent',
  'failed',
  'queued',
  'deferred',
  'claimed',
  'suppressed',
  'canceled',
] as const;
export const ANSWERS = ['replied', 'opted_out'] as const;
export const GROUPS = ['hour', 'number', 'area', 'segments'] as const;
export const STEP_KEYS = ['audience', 'message', 'when', 'check'] as const;
export const WHENS = ['now', 'at', 'local'] as const;

export interface CampaignsSearch {
  search?: string;
  status?: (typeof STATUSES)[number];
}

export interface CampaignSearch {
  step?: (typeof STEP_KEYS)[number];
  when?: (typeof WHENS)[number];
  /** A date and a time of the day without a zone. */
  at?: string;
  by?: (typeof GROUPS)[number];
}

export interface RecipientsSearch {
  state?: (typeof STATES)[number];
  reason?: string;
  answer?: (typeof ANSWERS)[number];
}

type Given = Record<string, unknown>;

const staticData = { scope: 'campaigns:read' };
const params = {
  parse: ({ id }: { id: string }) => ({ id: Number.parseInt(id, 10) || 0 }),
  stringify: ({ id }: { id: number }) => ({ id: String(id) }),
};

const list = createRoute({
  getParentRoute: () => root,
  path: 'campaigns',
  staticData,
  validateSearch: ({ search, status }: Given): CampaignsSearch => ({
    search: textOf(search),
    status: oneOf(STATUSES, status),
  }),
  component: page(() => import('./CampaignsPage.tsx'), 'CampaignsPage'),
});

const one = createRoute({
  getParentRoute: () => root,
  path: 'campaigns/$id',
  staticData,
  params,
  validateSearch: ({ step, when, at, by }: Given): CampaignSearch => ({
    step: oneOf(STEP_KEYS, step),
    when: oneOf(WHENS, when),
    at: textOf(at),
    by: oneOf(GROUPS, by),
  }),
  component: page(() => import('./CampaignPage.tsx'), 'CampaignPage'),
});

const recipients = createRoute({
  getParentRoute: () => root,
  path: 'campaigns/$id/recipients',
  staticData: { scope: 'contacts:read' },
  params,
  validateSearch: ({ state, reason, answer }: Given): RecipientsSearch => ({
    state: oneOf(STATES, state),
    reason: textOf(reason),
    answer: oneOf(ANSWERS, answer),
  }),
  component: page(() => import('./RecipientsPage.tsx'), 'RecipientsPage'),
});

export const campaigns = [list, one, recipients];

function textOf(given: unknown): string | undefined {
  return given === undefined || given === '' ? undefined : String(given);
}
