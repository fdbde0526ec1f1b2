// The replay of chosen deliveries: it first says how many are sent again, and why others are not.

import { Button } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Confirm, Failure, plural, Skeleton, useAct, words } from '../../ui/index.ts';
import { ReplayChosen } from './mutations.ts';
import { ReplayPreview } from './queries.ts';
import styles from './webhooks.module.css';

interface ChosenProps {
  ids: number[];
  onClear: () => void;
  onDone: () => void;
}

export function Chosen({ ids, onClear, onDone }: ChosenProps) {
  const act = useAct(ReplayChosen);
  const [isAsked, setAsked] = useState(false);
  const [{ data, error }, again] = useQuery({
    query: ReplayPreview,
    variables: { ids },
    pause: !isAsked,
    requestPolicy: 'network-only',
  });
  const preview = data?.preview_webhook_replay;
  const replay = async () => {
    if (!(await act.run({ ids }))) return;
    setAsked(false);
    onDone();
  };
  return (
    <div className={styles.acts} role="status">
      <span>{plural(ids.length, 'delivery', 'deliveries')} chosen</span>
      <Button size="compact-sm" onClick={() => setAsked(true)}>
        Send them again
      </Button>
      <Button size="compact-sm" variant="default" onClick={onClear}>
        Choose none
      </Button>
      <Confirm
        title="Send the chosen deliveries again?"
        act={preview ? `Send ${plural(preview.count, 'delivery', 'deliveries')} again` : 'Send again'}
        isOpen={isAsked}
        isBusy={act.isBusy || !preview?.count}
        refusal={act.refusal}
        isDangerous={false}
        onClose={() => setAsked(false)}
        onConfirm={() => void replay()}
      >
        {error && <Failure error={error} retry={again} />}
        {!preview && !error && <Skeleton rows={2} />}
        {preview && <p>{plural(preview.count, 'delivery is', 'deliveries are')} sent again.</p>}
        {preview?.refused.map(({ reason, count }) => (
          <p key={reason}>
            {plural(count, 'is', 'are')} not: {words(reason).toLowerCase()}.
          </p>
        ))}
      </Confirm>
    </div>
  );
}
