// The state of a sequence in a word.

import { Badge, type Kind, words } from '../../ui/index.ts';
import type { Sequence } from './queries.ts';

const KINDS: Record<Sequence['status'], Kind> = { active: 'good', paused: 'warn', archived: 'plain' };

export function SequenceState({ status }: { status: Sequence['status'] }) {
  return <Badge kind={KINDS[status]}>{words(status)}</Badge>;
}
