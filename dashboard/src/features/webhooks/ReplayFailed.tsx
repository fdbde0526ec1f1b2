// The replay of all that failed in a period: it first says how many are sent again, and why others are not.

import { Select } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { plural, useAct } from '../../ui/index.ts';
import { ReplayFailed } from './mutations.ts';
import { FailedPreview } from './queries.ts';
import { ReplayQuestion } from './ReplayQuestion.tsx';

const HOUR = 60 * 60 * 1000;
const PERIODS = [
  { value: '1', label: 'Failed in the last hour' },
  { value: '24', label: 'Failed in the last 24 hours' },
  { value: '168', label: 'Failed in the last 7 days' },
];

export function Failed({ id, onChanged }: { id: number; onChanged: () => void }) {
  const act = useAct(ReplayFailed);
  const [since, setSince] = useState<string>();
  const [replayed, setReplayed] = useState<number>();
  const [{ data, error, fetching }, again] = useQuery({
    query: FailedPreview,
    variables: { id, since: since ?? '' },
    pause: !since,
    requestPolicy: 'network-only',
  });
  const replay = async () => {
    if (!since) return;
    const done = await act.run({ id, since });
    if (!done) return;
    setReplayed(done.replay_webhook_deliveries.count);
    setSince(undefined);
    onChanged();
  };
  return (
    <>
      <Select
        w={212}
        aria-label="Replay failed deliveries"
        placeholder="Replay failed deliveries"
        value={null}
        data={PERIODS}
        onChange={(hours) => hours && setSince(new Date(Date.now() - Number(hours) * HOUR).toISOString())}
      />
      <span role="status">{replayed !== undefined && `${plural(replayed, 'delivery', 'deliveries')} sent again`}</span>
      <ReplayQuestion
        title="Send the failed deliveries again?"
        isOpen={since !== undefined}
        preview={fetching || error ? undefined : data?.preview_webhook_replay_since}
        error={error}
        retry={again}
        state={act}
        onClose={() => setSince(undefined)}
        onConfirm={() => void replay()}
      />
    </>
  );
}
