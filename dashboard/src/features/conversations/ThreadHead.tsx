// The head of a thread: who it is with, who answers, and whether it is closed.

import { Button, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { useQuery } from 'urql';
import { type Conversation, useMay } from '../../graphql/index.ts';
import { useKeys } from '../../shell/keys.ts';
import { Badge, Heading, Icon, offerUndo, Refused, useAct } from '../../ui/index.ts';
import styles from './inbox.module.css';
import { Assign, MarkUnread, SetStatus } from './mutations.ts';
import { usePresent } from './presence.ts';
import { nextOf } from './order.ts';
import { InboxUsers } from './queries.ts';
import { SnoozeMenu } from './SnoozeMenu.tsx';
import { useNames } from './useNames.ts';
import type { View } from './views.ts';

interface ThreadHeadProps {
  conversation: Conversation;
  view: View;
  /** Called when the conversation is left: with the one that is shown next, or for the list. */
  onLeave: (next?: number) => void;
}

export function ThreadHead({ conversation, view, onLeave }: ThreadHeadProps) {
  const { id, contact, status } = conversation;
  const mayChange = useMay('conversations:write');
  const act = useAct(SetStatus);
  const isOpen = status === 'open';
  const toggle = async () => {
    const next = nextOf(id);
    if (!(await act.run({ id, status: isOpen ? 'closed' : 'open' })) || !isOpen) return;
    onLeave(next);
    void offerUndo(`Closed: ${contact.label}`, () => void act.run({ id, status: 'open' }));
  };
  const unread = useAct(MarkUnread);
  const refusal = act.refusal ?? unread.refusal;
  const leaveUnread = async () => {
    if (await unread.run({ id })) onLeave();
  };
  useKeys((key) => {
    if (key === 'e' && mayChange) void toggle();
    if (key === 'u' && mayChange) void leaveUnread();
  });
  return (
    <header className={styles.threadHead}>
      <Link to="/inbox/$view" params={{ view }} search={true} className={styles.back} aria-label="Back to the list">
        <Icon name="back" />
      </Link>
      <div>
        <Heading>{contact.label}</Heading>
        <Others id={id} />
      </div>
      <Link to="/contacts/$id" params={{ id: contact.id }} className={styles.about} aria-label="About this person">
        <Icon name="contacts" />
      </Link>
      <div className={styles.threadActions}>
        {mayChange && <Assignee conversation={conversation} />}
        {mayChange && isOpen && <SnoozeMenu conversation={conversation} onSnoozed={onLeave} />}
        {mayChange && (
          <Button variant="default" size="xs" loading={act.isBusy} onClick={() => void toggle()}>
            {isOpen ? 'Close' : 'Open again'}
          </Button>
        )}
      </div>
      {refusal && <Refused refusal={refusal} />}
    </header>
  );
}

function Others({ id }: { id: number }) {
  const names = useNames();
  const present = usePresent(id);
  return (
    <span role="status" className={styles.present}>
      {present.map(({ actor, isTyping }) => (
        <Badge key={actor.id} kind={isTyping ? 'warn' : 'plain'}>
          {`${names(actor)} ${isTyping ? 'is typing' : 'is looking at this'}`}
        </Badge>
      ))}
    </span>
  );
}

function Assignee({ conversation }: { conversation: Conversation }) {
  const [{ data }] = useQuery({ query: InboxUsers });
  const act = useAct(Assign);
  const field = useRef<HTMLInputElement>(null);
  useKeys((key, event) => {
    if (key !== 'a') return;
    event.preventDefault();
    field.current?.click();
    field.current?.focus();
  });
  const people = (data?.users ?? []).filter(({ role }) => role !== 'service');
  const { id, version, assignee_id: before } = conversation;
  const choices = people.map(({ id, email, first_name, last_name }) => ({
    value: String(id),
    label: `${first_name} ${last_name}`.trim() || email,
  }));
  const assign = async (value: string | null) => {
    const done = await act.run({ id, assignee_id: value ? Number(value) : null, expected_version: version });
    if (!done) return;
    const undone = { id, assignee_id: before, expected_version: done.assign_conversation.version };
    const name = choices.find((each) => each.value === value)?.label ?? 'nobody';
    void offerUndo(`Assigned to ${name}`, () => void act.run(undone));
  };
  return (
    <Select
      ref={field}
      size="xs"
      w={136}
      aria-label="Assigned to"
      placeholder="Nobody"
      clearable
      clearButtonProps={{ 'aria-label': 'Assign to nobody' }}
      data={choices}
      value={conversation.assignee_id ? String(conversation.assignee_id) : null}
      error={act.refusal?.text}
      onChange={(value) => void assign(value)}
    />
  );
}
