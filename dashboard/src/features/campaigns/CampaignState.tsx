// The state of a campaign in a word.

import { Badge, type Kind, words } from '../../ui/index.ts';
import type { Campaign } from './queries.ts';

const KINDS: Record<Campaign['status'], Kind> = {
  draft: 'plain',
  scheduled: 'plain',
  sending: 'warn',
  paused: 'warn',
  completed: 'good',
  canceled: 'plain',
  failed: 'bad',
};

export function CampaignState({ status }: { status: Campaign['status'] }) {
  return <Badge kind={KINDS[status]}>{words(status)}</Badge>;
}
