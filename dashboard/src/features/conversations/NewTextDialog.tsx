// The dialog for a text to a phone that there may be no conversation with yet.

import { Button, Checkbox, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import { type ShownProps, useShown } from '../../shell/shown.ts';
import { Cost, FormDialog, Refused, useAct } from '../../ui/index.ts';
import { HeldUntil } from './HeldUntil.tsx';
import { FirstText } from './mutations.ts';
import type { View } from './views.ts';

export function NewTextDialog({ isOpen, onClose, view }: ShownProps & { view: View }) {
  const isShown = useShown(isOpen);
  return (
    <FormDialog isOpen={isShown} onClose={onClose} title="New text">
      <NewTextForm view={view} onSent={onClose} />
    </FormDialog>
  );
}

function NewTextForm({ view, onSent }: { view: View; onSent: () => void }) {
  const navigate = useNavigate();
  const key = useRef('');
  const act = useAct(FirstText);
  const [to, setTo] = useState('');
  const [body, setBody] = useState('');
  const [isAgreed, setAgreed] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    key.current ||= crypto.randomUUID();
    const sent = await act.run({ to, body, idempotency_key: key.current });
    if (!sent) return;
    const id = sent.send_message.message?.conversation_id;
    onSent();
    const params = { view: view === 'closed' ? ('open' as const) : view, id: id ?? 0 };
    if (id) await navigate({ to: '/inbox/$view/$id', params, search: true });
  };
  const edit = (set: (text: string) => void) => (text: string) => {
    key.current = '';
    set(text);
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Phone"
        placeholder="+1 202 555 0143"
        type="tel"
        required
        data-autofocus
        value={to}
        onChange={({ currentTarget }) => edit(setTo)(currentTarget.value)}
        mb="sm"
      />
      <Textarea
        label="Text"
        required
        autosize
        minRows={3}
        value={body}
        onChange={({ currentTarget }) => edit(setBody)(currentTarget.value)}
        mb="xs"
      />
      <Cost text={body} to={to} />
      <Checkbox
        my="md"
        label="This person agreed to be texted by us."
        checked={isAgreed}
        onChange={({ currentTarget }) => setAgreed(currentTarget.checked)}
      />
      {isAgreed && to.trim() !== '' && <HeldUntil to={to} />}
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" fullWidth disabled={!isAgreed || !to || !body.trim()} loading={act.isBusy}>
        Send the text
      </Button>
    </form>
  );
}
