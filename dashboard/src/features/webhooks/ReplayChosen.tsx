// The replay of chosen deliveries: it first says how many are sent again, and why others are not.

import { Button } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { plural, useAct } from '../../ui/index.ts';
import { ReplayChosen } from './mutations.ts';
import { ReplayPreview } from './queries.ts';
import { ReplayQuestion } from './ReplayQuestion.tsx';
import styles from './webhooks.module.css';

interface ChosenProps {
  ids: number[];
  onClear: () => void;
  onDone: () => void;
}

export function Chosen({ ids, onClear, onDone }: ChosenProps) {
  const act = useAct(ReplayChosen);
  const [isAsked, setAsked] = useState(false);
  const [{ data, error, fetching }, again] = useQuery({
    query: ReplayPreview,
    variables: { ids },
    pause: !isAsked,
    requestPolicy: 'network-only',
  });
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
      <ReplayQuestion
        title="Send the chosen deliveries again?"
        isOpen={isAsked}
        preview={fetching || error ? undefined : data?.preview_webhook_replay}
        error={error}
        retry={again}
        state={act}
        onClose={() => setAsked(false)}
        onConfirm={() => void replay()}
      />
    </div>
  );
}
