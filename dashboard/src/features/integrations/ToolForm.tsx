// A new scheduling tool: the secret is made here, and given to the tool.

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Refused, useAct } from '../../ui/index.ts';
import styles from './integrations.module.css';
import { makeSecret } from './model.ts';
import { AddTool } from './mutations.ts';
import type { Kind } from './queries.ts';

export function ToolForm({ kind, onAdded }: { kind: Kind; onAdded: (id: number, secret: string) => void }) {
  const act = useAct(AddTool);
  const [name, setName] = useState(kind.title);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const secret = makeSecret();
    const made = await act.run({ kind: kind.name, name, secret });
    if (made) onAdded(made.add_integration.id, secret);
  };
  return (
    <form className={styles.fields} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Name"
        required
        maxLength={100}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        data-autofocus
      />
      <p>The next page shows an address and a secret, and the steps in {kind.title}.</p>
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" loading={act.isBusy} disabled={!name.trim()}>
        Add {kind.title}
      </Button>
    </form>
  );
}
