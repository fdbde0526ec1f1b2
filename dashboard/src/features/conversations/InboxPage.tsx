// The inbox: the conversations of a view, the thread of one, and the person it is with.

import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useClient } from 'urql';
import { useViewer } from '../../graphql/index.ts';
import { ConversationList } from './ConversationList.tsx';
import styles from './inbox.module.css';
import { openOutbox } from './outbox.ts';
import { Thread } from './Thread.tsx';
import { isView } from './views.ts';

export function InboxPage() {
  const { view: name, id: given } = useParams({ strict: false });
  const view = name && isView(name) ? name : 'open';
  const id = given ? Number(given) : undefined;
  const client = useClient();
  const viewer = useViewer();
  useEffect(() => openOutbox(client, viewer.id), [client, viewer.id]);
  return (
    <div className={`${styles.inbox} ${id ? styles.open : styles.closed}`}>
      <ConversationList key={view} view={view} openId={id} />
      {id ? (
        <Thread key={id} id={id} view={view} />
      ) : (
        <div className={styles.none}>Choose a conversation, or press j.</div>
      )}
    </div>
  );
}
