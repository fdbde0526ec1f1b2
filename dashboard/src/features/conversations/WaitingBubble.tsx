// A text that waits to become a message, and what can be done with it.

import { Button, Group } from '@mantine/core';
import { useClient } from 'urql';
import { useViewer } from '../../graphql/index.ts';
import { restore } from './drafts.ts';
import styles from './inbox.module.css';
import { discard, insist, renew, type Waiting } from './outbox.ts';
import { useNames } from './useNames.ts';

const WORDS: Record<Waiting['state'], string> = {
  sending: 'Sending…',
  unconfirmed: 'Not confirmed: the service has not answered yet. It is tried again, and sent once.',
  answered: 'Not sent yet.',
  refused: 'Not sent.',
  old: 'This text waited for a day: it may have been sent.',
};

export function WaitingBubble({ text }: { text: Waiting }) {
  const client = useClient();
  const { id } = useViewer();
  const names = useNames();
  const { state, body, conversationId, key, refusal, answer } = text;
  const isOver = state === 'answered' || state === 'refused' || state === 'old';
  const edit = () => {
    restore(id, conversationId, body);
    discard(key);
  };
  return (
    <div className={`${styles.bubble} ${styles.out}`}>
      <div className={styles.body} dir="auto" style={{ opacity: isOver ? 1 : 0.7 }}>
        {body}
      </div>
      <div className={`${styles.meta} ${isOver ? styles.failed : ''}`} role={isOver ? 'alert' : 'status'}>
        {WORDS[state]} {refusal?.text}
        {answer && ` ${names(answer.actor)} has answered since you began: “${answer.body}”`}
      </div>
      {state !== 'sending' && (
        <Group gap={8} mt={4}>
          {isOver && (
            <Button size="compact-xs" variant="default" onClick={edit}>
              Edit it
            </Button>
          )}
          {state === 'answered' && (
            <Button size="compact-xs" variant="default" onClick={() => insist(client, key)}>
              Send it too
            </Button>
          )}
          {state === 'old' && (
            <Button size="compact-xs" variant="default" onClick={() => renew(client, text)}>
              Send it again
            </Button>
          )}
          <Button size="compact-xs" variant="subtle" onClick={() => discard(key)}>
            Discard it
          </Button>
        </Group>
      )}
    </div>
  );
}
