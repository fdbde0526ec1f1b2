// A reply that a language model suggests: it is edited and sent by a person.

import { Button } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../graphql/index.ts';
import { useAct } from '../../ui/index.ts';
import styles from './inbox.module.css';
import { SuggestReply } from './mutations.ts';

export function Suggest({ id, onSuggested }: { id: number; onSuggested: (text: string) => void }) {
  const act = useAct(SuggestReply);
  const [reason, setReason] = useState('');
  if (!useMay('ai:use')) return null;
  const suggest = async () => {
    const found = (await act.run({ conversation_id: id }))?.suggest_reply;
    setReason(found && !found.body ? (found.reason ?? 'There is no suggestion.') : '');
    if (found?.body) onSuggested(found.body);
  };
  const problem = act.refusal?.text ?? reason;
  return (
    <>
      {problem && (
        <span className={styles.soft} role="status" style={{ whiteSpace: 'normal' }}>
          {problem}
        </span>
      )}
      <Button size="xs" variant="default" title="Costs 1 credit" loading={act.isBusy} onClick={() => void suggest()}>
        Suggest
      </Button>
    </>
  );
}
