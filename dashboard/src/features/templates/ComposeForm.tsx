// Texts that an AI writes from a goal: a person chooses one, and edits it.

import { Button, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import { Notice, Refused, useAct } from '../../ui/index.ts';
import { ComposeCopy } from './mutations.ts';
import styles from './templates.module.css';

interface ComposeFormProps {
  onChoose: (body: string) => void;
}

export function ComposeForm({ onChoose }: ComposeFormProps) {
  const key = useRef('');
  const act = useAct(ComposeCopy);
  const [goal, setGoal] = useState('');
  const [tone, setTone] = useState('');
  const [written, setWritten] = useState<Written>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    key.current ||= crypto.randomUUID();
    const done = await act.run({ goal, tone, key: key.current });
    if (!done) return;
    key.current = '';
    setWritten(done.compose_copy);
  };
  const edit = (set: (text: string) => void) => (text: string) => {
    key.current = '';
    set(text);
  };
  return (
    <>
      <form className={styles.form} onSubmit={(event) => void submit(event)}>
        <Textarea
          label="Goal"
          description="With its facts: the offer, the day, the place, the link."
          autosize
          minRows={2}
          maxLength={1000}
          data-autofocus
          value={goal}
          onChange={({ currentTarget }) => edit(setGoal)(currentTarget.value)}
        />
        <TextInput
          label="Tone"
          placeholder="Such as warm, or brief"
          maxLength={200}
          value={tone}
          onChange={({ currentTarget }) => edit(setTone)(currentTarget.value)}
        />
        {act.refusal && <Refused refusal={act.refusal} />}
        <Button type="submit" loading={act.isBusy} disabled={!goal.trim()}>
          {written ? 'Write 3 others for 1 credit' : 'Write 3 texts for 1 credit'}
        </Button>
      </form>
      {written && <Candidates written={written} onChoose={onChoose} />}
    </>
  );
}

interface Written {
  bodies: readonly string[];
  notice: string | null;
}

function Candidates({ written: { bodies, notice }, onChoose }: { written: Written } & ComposeFormProps) {
  return (
    <div className={styles.written}>
      {notice && <Notice>{notice}</Notice>}
      <ul aria-label="Texts">
        {bodies.map((body, index) => (
          <li key={body}>
            <p dir="auto">{body}</p>
            <Button size="xs" variant="default" ref={index ? undefined : focusOnce} onClick={() => onChoose(body)}>
              Use text {index + 1}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function focusOnce(button: HTMLButtonElement | null): void {
  button?.focus();
}
