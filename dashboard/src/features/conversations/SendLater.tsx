// Sending a text at a later time: its credits are held until then, and it can be canceled.

import { Button, Menu, TextInput } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import { FormDialog, instant, instantIn, Refused, useAct, zoneOf } from '../../ui/index.ts';
import { ReplyLater } from './mutations.ts';
import { show } from './outbox.ts';
import { times } from './SnoozeMenu.tsx';

interface SendLaterProps {
  id: number;
  text: string;
  /** Tells whether the text may be sent now, or its author is asked first. */
  permits: () => boolean;
  /** Called with the text that was accepted. */
  onSent: (text: string) => void;
}

export function SendLater({ id, text, permits, onSent }: SendLaterProps) {
  const [openedAt, setOpenedAt] = useState<Date | null>(null);
  const [isAsked, setAsked] = useState(false);
  const key = useRef({ text: '', value: '' });
  const act = useAct(ReplyLater);
  const send = async (at: Date) => {
    if (!permits()) return setAsked(false);
    const send_at = at.toISOString();
    const meant = `${send_at} ${text}`;
    if (key.current.text !== meant) key.current = { text: meant, value: crypto.randomUUID() };
    const sent = await act.run({ conversation_id: id, body: text, send_at, idempotency_key: key.current.value });
    setAsked(!sent);
    if (!sent) return;
    if (sent.reply.message) show(sent.reply.message);
    onSent(text);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void send(instantIn(zoneOf(), String(new FormData(event.currentTarget).get('at'))));
  };
  return (
    <>
      <Menu
        opened={openedAt !== null}
        onChange={(opened) => setOpenedAt(opened ? new Date() : null)}
        position="top-end"
      >
        <Menu.Target>
          <Button size="xs" variant="default" disabled={text.trim() === ''} loading={act.isBusy}>
            Send later
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {openedAt &&
            times(openedAt).map(([label, at]) => (
              <Menu.Item key={label} title={instant(at.toISOString())} onClick={() => void send(at)}>
                {label}
              </Menu.Item>
            ))}
          <Menu.Item onClick={() => setAsked(true)}>At another time…</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <FormDialog isOpen={isAsked} onClose={() => setAsked(false)} title="Send later">
        <form onSubmit={submit}>
          <TextInput
            type="datetime-local"
            max="9999-12-31T23:59"
            name="at"
            label="Time"
            required
            mb="md"
            data-autofocus
          />
          {act.refusal && <Refused refusal={act.refusal} />}
          <Button type="submit" fullWidth loading={act.isBusy}>
            Send at this time
          </Button>
        </form>
      </FormDialog>
    </>
  );
}
