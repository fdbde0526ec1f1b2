// A message, and a text that waits to become one.

import { Button, Group } from '@mantine/core';
import { useClient } from 'urql';
import { type Message, useMay, useViewer } from '../../graphql/index.ts';
import { Badge, Icon, type Kind, plural, Refused, Time, useAct } from '../../ui/index.ts';
import { restore } from './drafts.ts';
import styles from './inbox.module.css';
import { CancelText } from './mutations.ts';
import { discard, insist, renew, show, type Waiting } from './outbox.ts';
import { useNames } from './useNames.ts';

const STATES: Record<Message['status'], [Kind, string]> = {
  pending: ['plain', 'Waiting'],
  sent: ['plain', 'Sent'],
  delivered: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
  received: ['plain', 'Received'],
};

export function Bubble({ message }: { message: Message }) {
  const { direction, body, actor, status, created_at, media } = message;
  const names = useNames();
  const [kind, word] = STATES[status];
  const isOut = direction === 'outbound';
  return (
    <div className={`${styles.bubble} ${isOut ? styles.out : ''}`}>
      <div className={styles.body} dir="auto">
        {body}
        {media.map(({ url, content_type }) => (
          <div key={url}>
            <a href={url} target="_blank" rel="noopener noreferrer nofollow">
              {content_type}
            </a>
          </div>
        ))}
      </div>
      <div className={styles.meta}>
        {isOut && <span>{names(actor)}</span>}
        <Time at={created_at} />
        {isOut && <Badge kind={kind}>{word}</Badge>}
        {isOut && <span>{plural(message.segments, 'part')}</span>}
      </div>
      <Explained message={message} />
    </div>
  );
}

function Explained({ message }: { message: Message }) {
  const { status, status_description, failed_at, deferred_until, credits, send_at } = message;
  if (status === 'failed') {
    return (
      <div className={`${styles.meta} ${styles.failed}`}>
        <Icon name="warning" size={14} />
        <span>
          {status_description ?? 'The carrier did not say why.'} {plural(credits, 'credit')} given back.
          {failed_at && (
            <>
              {' '}
              Failed <Time at={failed_at} full />.
            </>
          )}
        </span>
      </div>
    );
  }
  if (status === 'pending' && send_at) return <Later message={message} at={send_at} />;
  if (status !== 'pending' || !deferred_until) return null;
  return (
    <div className={styles.meta}>
      Leaves <Time at={deferred_until} full />: it is outside the hours in which this person may be texted.
    </div>
  );
}

function Later({ message, at }: { message: Message; at: string }) {
  const viewer = useViewer();
  const act = useAct(CancelText);
  const maySend = useMay('messages:send');
  const cancel = async () => {
    const canceled = (await act.run({ id: message.id }))?.cancel_message.message;
    if (!canceled) return;
    show(canceled);
    restore(viewer.id, message.conversation_id, message.body);
  };
  return (
    <div className={styles.meta}>
      <span>
        Leaves <Time at={at} full />
      </span>
      {maySend && (
        <Button size="compact-xs" variant="default" loading={act.isBusy} onClick={() => void cancel()}>
          Cancel and edit
        </Button>
      )}
      {act.refusal && <Refused refusal={act.refusal} />}
    </div>
  );
}

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
