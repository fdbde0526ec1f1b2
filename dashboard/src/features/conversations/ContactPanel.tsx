// The person that a conversation is with.

import type { ResultOf } from '../../graphql/index.ts';
import { Badge, Facts, Time, words } from '../../ui/index.ts';
import styles from './inbox.module.css';
import type { InboxConversation } from './queries.ts';

type Shown = NonNullable<ResultOf<typeof InboxConversation>['conversation']>;

export function ContactPanel({ conversation: { contact } }: { conversation: Shown }) {
  const state = contact.status === 'opted_out' ? 'Opted out' : contact.dnd_sms ? 'Do not disturb' : 'May be texted';
  return (
    <aside className={styles.aside} aria-label="Contact">
      <h2>{contact.label}</h2>
      <p>
        <Badge kind={state === 'May be texted' ? 'good' : 'bad'}>{state}</Badge>
      </p>
      <Facts
        rows={[
          ['Phone', contact.phone],
          ['E-mail', contact.email || '–'],
          ['Stage', words(contact.pipeline_stage)],
          ['Score', contact.score],
          ['Tags', contact.tags.join(', ') || '–'],
          ['Since', <Time key="since" at={contact.created_at} />],
        ]}
      />
    </aside>
  );
}
