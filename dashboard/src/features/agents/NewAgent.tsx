// A new AI agent: its name, its instructions, and what becomes of its drafts.

import { Button, Radio, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Refused, useOnce } from '../../ui/index.ts';
import styles from './agents.module.css';
import { MODES } from './model.ts';
import { CreateAgent } from './mutations.ts';
import type { Agent } from './queries.ts';

export function NewAgent() {
  const navigate = useNavigate();
  const act = useOnce(CreateAgent);
  const [name, setName] = useState('');
  const [instructions, setInstructions] = useState('');
  const [mode, setMode] = useState<Agent['mode']>('approve');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const made = await act.run({ name, instructions, mode });
    if (made)
      await navigate({ to: '/agents/$id', params: { id: made.create_ai_agent.id }, search: { tab: 'knowledge' } });
  };
  return (
    <form className={styles.fields} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Name"
        required
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        data-autofocus
      />
      <Textarea
        label="Instructions"
        description="Such as: You answer for a hair salon. Be brief and kind."
        required
        autosize
        minRows={3}
        maxLength={2000}
        value={instructions}
        onChange={({ currentTarget }) => setInstructions(currentTarget.value)}
      />
      <Radio.Group label="Mode" value={mode} onChange={(value) => setMode(value as Agent['mode'])}>
        {MODES.map(({ value, label, meaning }) => (
          <Radio key={value} value={value} label={label} description={meaning} mt="xs" />
        ))}
      </Radio.Group>
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" loading={act.isBusy} disabled={!name.trim() || !instructions.trim()}>
        Create the agent
      </Button>
    </form>
  );
}
