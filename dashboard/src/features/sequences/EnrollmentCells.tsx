// The cells of an enrollment: its state, its next text, and what can be done with it.

import { Button } from '@mantine/core';
import { Badge, type Kind, Refused, Time, useAct, words } from '../../ui/index.ts';
import { PauseEnrollment, ResumeEnrollment } from './mutations.ts';
import type { Enrollment, Sequence } from './queries.ts';

const KINDS: Record<Enrollment['status'], Kind> = {
  active: 'good',
  finishing: 'good',
  completed: 'plain',
  exited: 'warn',
};
export const LABELS = { active: 'Under way', finishing: 'Sending', completed: 'Completed', exited: 'Left' };

export function State({ row: { status, is_paused } }: { row: Enrollment }) {
  if (status === 'active' && is_paused) return <Badge kind="warn">Paused</Badge>;
  return <Badge kind={KINDS[status]}>{LABELS[status]}</Badge>;
}

export function Next({ row, sequence: { steps, steps_version } }: { row: Enrollment; sequence: Sequence }) {
  if (row.status !== 'active') return <>{words(row.exit_reason) || '–'}</>;
  if (row.steps_version !== steps_version) return <>{`Text ${row.position} of version ${row.steps_version}`}</>;
  return <>{`Text ${row.position} of ${steps.length}`}</>;
}

export function When({ row: { status, is_paused, paused_until, next_send_at, ended_at } }: { row: Enrollment }) {
  if (status !== 'active') return <Time at={ended_at} full />;
  if (!is_paused) return <Time at={next_send_at} full />;
  return paused_until ? <Time at={paused_until} full /> : <>Until it is resumed</>;
}

interface ActsProps {
  row: Enrollment;
  onChange: () => void;
  onEnd: () => void;
}

export function Acts({ row: { id, is_paused, contact }, onChange, onEnd }: ActsProps) {
  const pause = useAct(PauseEnrollment);
  const resume = useAct(ResumeEnrollment);
  const act = is_paused ? resume : pause;
  const change = async () => {
    if (await act.run({ enrollment_id: id })) onChange();
  };
  return (
    <>
      <Button
        size="compact-xs"
        variant="subtle"
        loading={act.isBusy}
        aria-label={`${is_paused ? 'Resume' : 'Pause'} for ${contact.label}`}
        onClick={() => void change()}
      >
        {is_paused ? 'Resume' : 'Pause'}
      </Button>
      <Button size="compact-xs" variant="subtle" aria-label={`End for ${contact.label}`} onClick={onEnd}>
        End
      </Button>
      {act.refusal && <Refused refusal={act.refusal} />}
    </>
  );
}
