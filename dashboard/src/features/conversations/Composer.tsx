// The field for a reply or a note: what a reply costs is shown while typing, and nothing typed is lost.

import { Button, SegmentedControl, Textarea } from '@mantine/core';
import { Suspense, useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { type Conversation, type Message, useMay, useStore } from '../../graphql/index.ts';
import { useKeys } from '../../shell/keys.ts';
import { Cost, Icon, Notice, part } from '../../ui/index.ts';
import { restored, useDraft } from './drafts.ts';
import styles from './inbox.module.css';
import { HeldUntil, isAnswer } from './HeldUntil.tsx';
import { send } from './outbox.ts';
import { usePresence } from './presence.ts';
import { SendLater } from './SendLater.tsx';
import { Suggest } from './Suggest.tsx';
import { TemplateMenu } from './TemplateMenu.tsx';
import { useAnswered } from './useAnswered.ts';
import { useNames } from './useNames.ts';

const NoteField = part(async () => (await import('./NoteField.tsx')).NoteField);

const LONGEST = 1600;
const MODES = [
  { value: 'reply', label: 'Reply' },
  { value: 'note', label: 'Note' },
];

interface ComposerProps {
  conversation: Conversation;
  /** The time of the latest text of the contact. */
  writtenAt?: string;
  /** The latest text to the contact that another person, or the service, sent. */
  answer?: Message;
  /** The id of the latest text. */
  newest?: number;
}

export function Composer({ conversation, ...shown }: ComposerProps) {
  const { times, conversationId } = useStore(restored);
  const [mode, setMode] = useState('reply');
  const { id } = conversation;
  const maySend = useMay('messages:send');
  const mayWrite = useMay('conversations:write');
  useKeys((key, event) => {
    if (key !== 'r' && key !== 'n') return;
    event.preventDefault();
    setMode(key === 'r' ? 'reply' : 'note');
  });
  if (!maySend && !mayWrite) return null;
  const isNote = mayWrite && (mode === 'note' || !maySend);
  return (
    <div className={styles.composer}>
      {mayWrite && maySend && (
        <SegmentedControl size="xs" mb={8} aria-label="What you write" value={mode} onChange={setMode} data={MODES} />
      )}
      {isNote ? (
        <Suspense>
          <NoteField id={id} />
        </Suspense>
      ) : (
        <Answer key={conversationId === id ? times : 0} conversation={conversation} {...shown} />
      )}
    </div>
  );
}

function Answer(props: ComposerProps) {
  const { contact } = props.conversation;
  if (contact.status !== 'opted_out') return <Field {...props} />;
  return (
    <Notice kind="warn">{contact.label} has opted out. You can text them again only after they text START.</Notice>
  );
}

function Field({ conversation, writtenAt, answer, newest }: ComposerProps) {
  const client = useClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = useDraft(conversation.id, 'reply', newest);
  const { text, keep, seen = newest } = draft;
  const answered = useAnswered(answer, draft);
  const names = useNames();
  const isTyping = useTyping(text);
  usePresence(conversation.id, isTyping);
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
    if (isEmpty || text.length > LONGEST || !answered.permits()) return;
    send(client, { conversationId: conversation.id, body: text, seen, version: conversation.version });
    clear(text);
  };
  const clear = (sent: string) => {
    keep((latest) => (latest === sent ? '' : latest));
    field.current?.focus();
  };
  const insert = (more: string) => {
    keep((latest) => `${latest}${more}`);
    field.current?.focus();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Textarea
        ref={field}
        aria-label={`Text to ${conversation.contact.label}`}
        placeholder="Write a text"
        autosize
        minRows={2}
        maxRows={8}
        value={text}
        error={text.length > LONGEST && `A text has at most ${LONGEST} characters; this one has ${text.length}.`}
        onChange={({ currentTarget: { value } }) => keep(value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit();
          if (event.key === 'Escape') field.current?.blur();
        }}
      />
      {answered.asked && (
        <Notice kind="warn">
          <span role="alert">
            {names(answered.asked.actor)} has answered since you began: “{answered.asked.body}” Send again to send yours
            too.
          </span>
        </Notice>
      )}
      <div className={styles.foot}>
        <Cost text={text} to={conversation.contact.phone} />
        <span className={styles.tools}>
          {writtenAt && <Suggest id={conversation.id} onSuggested={insert} />}
          <TemplateMenu onChoose={insert} contact={conversation.contact} />
          <SendLater id={conversation.id} text={text} permits={answered.permits} onSent={clear} />
          <Button ml="auto" size="xs" type="submit" disabled={isEmpty} leftSection={<Icon name="send" size={16} />}>
            Send
          </Button>
        </span>
      </div>
      {!isEmpty && !isAnswer(writtenAt) && <HeldUntil to={conversation.contact.phone ?? ''} />}
      {!writtenAt && !isEmpty && (
        <p className={styles.soft} style={{ margin: '8px 0 0', whiteSpace: 'normal' }}>
          They have not texted you yet: by sending you confirm that they agreed to be texted.
        </p>
      )}
    </form>
  );
}

const PAUSE = 5_000;

/** Tell whether a text was changed in the last seconds. */
function useTyping(text: string): boolean {
  const first = useRef(text);
  const [isTyping, setTyping] = useState(false);
  useEffect(() => {
    if (text === first.current) return;
    first.current = text;
    setTyping(text !== '');
    const timer = window.setTimeout(() => setTyping(false), PAUSE);
    return () => window.clearTimeout(timer);
  }, [text]);
  return isTyping;
}
