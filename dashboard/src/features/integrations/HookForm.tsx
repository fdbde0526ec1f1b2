// A new inbound webhook: its name, and where the phone stands. Its page has the other fields.

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Refused, useAct } from '../../ui/index.ts';
import styles from './integrations.module.css';
import { AddHook } from './mutations.ts';

export function HookForm({ onAdded }: { onAdded: (id: number, secret: string) => void }) {
  const act = useAct(AddHook);
  const [name, setName] = useState('');
  const [phone, setPhone] = useState('phone');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const made = await act.run({ name, actions: { phone } });
    if (made) onAdded(made.add_inbound_webhook.webhook.id, made.add_inbound_webhook.secret);
  };
  return (
    <form className={styles.fields} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Name"
        description="The sender, such as Shop."
        required
        maxLength={100}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label="Path of the phone"
        description="Where the phone stands in the JSON, such as order.phone or phones[0].value."
        required
        value={phone}
        onChange={({ currentTarget }) => setPhone(currentTarget.value)}
      />
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" loading={act.isBusy} disabled={!name.trim() || !phone.trim()}>
        Add the webhook
      </Button>
    </form>
  );
}
