// Sending a text at a later time: its credits are held until then, and it can be canceled.

import { Button, Menu } from '@mantine/core';
import { useRef, useState } from 'react';
import { Later } from '../../shell/Later.tsx';
import { dialog, instant, useAct } from '../../ui/index.ts';
import { ReplyLater } from './mutations.ts';
import { show } from './outbox.ts';
import { times } from './SnoozeMenu.tsx';

const SendLaterDialog = dialog(async () => (await import('./SendLaterDialog.tsx')).SendLaterDialog);

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
      <Later isWanted={isAsked}>
        <SendLaterDialog
          isOpen={isAsked}
          onClose={() => setAsked(false)}
          isBusy={act.isBusy}
          refusal={act.refusal}
          onChoose={(at) => void send(at)}
        />
      </Later>
    </>
  );
}
