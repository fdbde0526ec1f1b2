// The field for a reply: what it costs is shown while typing, and nothing typed is lost.

import { Button, Textarea } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useClient } from 'urql';
import { type Conversation, useMay, useStore } from '../../graphql/index.ts';
import { useKeys } from '../../shell/keys.ts';
import { Cost, Icon, Notice } from '../../ui/index.ts';
import { restored, useDraft } from './drafts.ts';
import styles from './inbox.module.css';
import { send } from './outbox.ts';
import { TemplateMenu } from './TemplateMenu.tsx';

const LONGEST = 1600;

export function Composer({ conversation, hasInbound }: { conversation: Conversation; hasInbound: boolean }) {
  const { times, conversationId } = useStore(restored);
  const { contact, id } = conversation;
  if (!useMay('messages:send')) return null;
  if (contact.status === 'opted_out') {
    return (
      <div className={styles.composer}>
        <Notice kind="warn">{contact.label} has opted out. Only a START of theirs lets you text them again.</Notice>
      </div>
    );
  }
  return <Field key={conversationId === id ? times : 0} conversation={conversation} hasInbound={hasInbound} />;
}

function Field({ conversation, hasInbound }: { conversation: Conversation; hasInbound: boolean }) {
  const client = useClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useDraft(conversation.id);
  const isEmpty = text.trim() === '';
  useEffect(() => {
    if (restored.get().conversationId === conversation.id) field.current?.focus();
  }, [conversation.id]);
  useKeys((key, event) => {
    if (key !== 'r') return;
    event.preventDefault();
    field.current?.focus();
  });
  const submit = () => {
    if (isEmpty || text.length > LONGEST) return;
    send(client, conversation.id, text);
    setText('');
    field.current?.focus();
  };
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Textarea
        ref={field}
        aria-label={`Text to ${conversation.contact.label}`}
        placeholder={`Text to ${conversation.contact.label}`}
        autosize
        minRows={2}
        maxRows={8}
        value={text}
        error={text.length > LONGEST && `A text has at most ${LONGEST} characters; this one has ${text.length}.`}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit();
          if (event.key === 'Escape') field.current?.blur();
        }}
      />
      <div className={styles.foot}>
        <Cost text={text} to={conversation.contact.phone} />
        <span style={{ display: 'flex', gap: 8 }}>
          <TemplateMenu onChoose={(body) => setText(text ? `${text}${body}` : body)} contact={conversation.contact} />
          <Button type="submit" disabled={isEmpty} leftSection={<Icon name="send" size={16} />}>
            Send
          </Button>
        </span>
      </div>
      {!hasInbound && !isEmpty && (
        <p className={styles.soft} style={{ margin: '8px 0 0', whiteSpace: 'normal' }}>
          They have not texted you yet: by sending you confirm that they agreed to be texted.
        </p>
      )}
    </form>
  );
}
