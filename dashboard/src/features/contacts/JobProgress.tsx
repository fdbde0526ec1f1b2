// The progress of a job, followed live; it goes on when the page is closed.

import { Button, Group, Progress } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import { useQuery } from 'urql';
import { useUpdates } from '../../graphql/index.ts';
import { Card, count, plural, Refused, useAct, words } from '../../ui/index.ts';
import { CancelJob, JobLink } from './mutations.ts';
import { JobState } from './queries.ts';

const ENDED = ['done', 'failed', 'canceled'];
const AGAIN = 2_000;

interface JobProgressProps {
  id: number;
  title?: string;
  onClose?: () => void;
  onEnd?: () => void;
}

export function JobProgress({ id, title, onClose, onEnd }: JobProgressProps) {
  const [{ data }, again] = useQuery({ query: JobState, variables: { id }, requestPolicy: 'cache-and-network' });
  const cancel = useAct(CancelJob);
  const link = useAct(JobLink);
  const refusal = cancel.refusal ?? link.refusal;
  const job = data?.job;
  const isOver = job && ENDED.includes(job.status);
  const ask = useEffectEvent(() => again({ requestPolicy: 'network-only' }));
  useUpdates((update) => {
    if (update === 'missed' || update.__typename === 'JobProgressUpdate') again({ requestPolicy: 'network-only' });
  });
  useEffect(() => {
    if (isOver) return;
    const timer = window.setInterval(() => ask(), AGAIN);
    return () => window.clearInterval(timer);
  }, [isOver]);
  const tell = useEffectEvent(() => onEnd?.());
  useEffect(() => {
    if (isOver) tell();
  }, [isOver]);
  if (!job) return null;
  const share = job.total ? (100 * job.done) / job.total : isOver ? 100 : 0;
  const hasFile =
    isOver && (job.kind === 'import_contacts' || (job.kind === 'export_contacts' && job.status === 'done'));
  const download = async () => {
    const made = await link.run({ id });
    if (made) window.location.assign(made.create_job_link.url);
  };
  return (
    <Card title={title ?? words(job.kind)}>
      <Progress value={share} aria-label="Progress" />
      <p role="status">
        {words(job.status)}: {count(job.done)} of {job.total === null ? '…' : count(job.total)},{' '}
        {plural(job.changed, 'change')}, {count(job.failed)} failed.
        {job.counts.map(({ outcome, count: number }) => ` ${words(outcome)}: ${count(number)}.`)}
      </p>
      {job.problems.map((problem) => (
        <p key={problem}>{problem}</p>
      ))}
      {refusal && <Refused refusal={refusal} />}
      <Group>
        {!isOver && (
          <Button size="xs" variant="default" loading={cancel.isBusy} onClick={() => void cancel.run({ id })}>
            Cancel
          </Button>
        )}
        {hasFile && (
          <Button size="xs" variant="default" loading={link.isBusy} onClick={() => void download()}>
            Download the file
          </Button>
        )}
        {isOver && onClose && (
          <Button size="xs" onClick={onClose}>
            Close
          </Button>
        )}
      </Group>
    </Card>
  );
}
