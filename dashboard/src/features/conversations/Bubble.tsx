// A message, and what became of it.

import { Button } from '@mantine/core';
import { type Message, useMay, useViewer } from '../../graphql/index.ts';
import { Badge, Icon, type Kind, plural, Refused, Time, useAct } from '../../ui/index.ts';
import { restore } from './drafts.ts';
import styles from './inbox.module.css';
import { CancelText } from './mutations.ts';
import { show } from './outbox.ts';
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
