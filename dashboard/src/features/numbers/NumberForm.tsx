// A number that is added to a connection by hand.

import { Button, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { Refused, useAct } from '../../ui/index.ts';
import { AddNumber } from './mutations.ts';
import styles from './numbers.module.css';

export function NumberForm({ connection, onDone }: { connection: number; onDone: () => void }) {
  const act = useAct(AddNumber);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? '').trim();
    const added = { connection_id: connection, phone_number: text('phone_number'), label: text('label') };
    if (await act.run(added)) onDone();
  };
  return (
    <form className={styles.fields} onSubmit={(event) => void submit(event)}>
      <TextInput
        name="phone_number"
        label="Number"
        description="Such as +12025550143; or a short code, or a name such as ACME, where allowed."
        required
        data-autofocus
      />
      <TextInput name="label" label="Label" description="Only you see it." />
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" loading={act.isBusy}>
        Add the number
      </Button>
    </form>
  );
}
