// A new drip sequence: its texts along a line of time.

import { Button, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Card, Icon, Page, Refused, Unsaved, useAct } from '../../ui/index.ts';
import { CreateSequence } from './mutations.ts';
import styles from './sequences.module.css';
import { type Draft, StepForm } from './StepForm.tsx';

const MOST_STEPS = 50;

export function NewSequencePage() {
  const navigate = useNavigate();
  const act = useAct(CreateSequence);
  const [name, setName] = useState('');
  const [steps, setSteps] = useState<Draft[]>([draft(0)]);
  const { refusal } = act;
  const isOfStep = (index: number) => refusal?.field?.startsWith(`steps[${index}]`);
  const isElsewhere = refusal && refusal.field !== 'name' && !refusal.field?.startsWith('steps[');
  const change = (next: Draft[]) => {
    act.forget();
    setSteps(next);
  };
  const move = (from: number, to: number) => {
    const next = [...steps];
    next.splice(to, 0, ...next.splice(from, 1));
    if (to >= 0 && to < steps.length) change(next);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const wanted = steps.map(({ days, hours, at, body }) => ({
      delay_days: days,
      delay_minutes: Math.round(hours * 60),
      at: at || null,
      body,
    }));
    const made = await act.run({ name, steps: wanted });
    if (made) await navigate({ to: '/sequences/$id', params: { id: made.create_sequence.id }, ignoreBlocker: true });
  };
  return (
    <Page title="New sequence">
      <form className={styles.form} onSubmit={(event) => void submit(event)}>
        <Card>
          <TextInput
            label="Name"
            description="Only you see it."
            maxLength={100}
            value={name}
            error={refusal?.field === 'name' ? refusal.text : undefined}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
        </Card>
        <ol className={styles.line} aria-label="Texts">
          {steps.map((step, index) => (
            <StepForm
              key={step.key}
              step={step}
              index={index}
              isLast={index === steps.length - 1}
              refused={isOfStep(index) ? refusal : undefined}
              onChange={(next) => change(steps.map((each) => (each.key === next.key ? next : each)))}
              onMove={(by) => move(index, index + by)}
              onRemove={steps.length > 1 ? () => change(steps.filter(({ key }) => key !== step.key)) : undefined}
            />
          ))}
        </ol>
        {steps.length < MOST_STEPS && (
          <Button
            variant="default"
            className={styles.add}
            leftSection={<Icon name="plus" size={16} />}
            onClick={() => change([...steps, draft(1)])}
          >
            Add a text
          </Button>
        )}
        <p className={styles.soft}>
          A sequence ends for a person who replies, opts out, or gets do-not-disturb. Quiet hours put texts off. Its
          texts stay as they are once it is made.
        </p>
        {isElsewhere && <Refused refusal={refusal} />}
        <div>
          <Button
            type="submit"
            loading={act.isBusy}
            disabled={!name.trim() || steps.some(({ body }) => body.trim() === '')}
          >
            Make the sequence
          </Button>
        </div>
      </form>
      <Unsaved isChanged={name !== '' || steps.some(({ body }) => body !== '')} />
    </Page>
  );
}

function draft(days: number): Draft {
  return { key: crypto.randomUUID(), days, hours: 0, at: '', body: '' };
}
