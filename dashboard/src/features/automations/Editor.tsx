// The editor of an automation: when it acts, and what it does in order.

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Refusal } from '../../graphql/index.ts';
import { Card, Refused, RefusedChange, Unsaved } from '../../ui/index.ts';
import { condition, Conditions, type Group, group, isComplete } from '../segments/index.ts';
import { ActionFields } from './ActionFields.tsx';
import styles from './automations.module.css';
import { type Draft, freshStep, type Step } from './model.ts';
import { TriggerFields } from './TriggerFields.tsx';

interface EditorProps {
  start: Draft;
  act: string;
  state: { isBusy: boolean; refusal?: Refusal };
  onSave: (draft: Draft) => Promise<void>;
  /** Called with each change. */
  onTouch?: () => void;
  /** Show what is saved, instead of what is changed here. */
  onRenew?: () => Promise<void>;
}

export function Editor({ start, act, state: { isBusy, refusal }, onSave, onTouch, onRenew }: EditorProps) {
  const [draft, setDraft] = useState(start);
  const [first] = useState(draft);
  const [isSaving, setSaving] = useState(false);
  const isReady = draft.name.trim() !== '' && draft.steps.length > 0 && (!draft.filter || isComplete(draft.filter));
  const set = (changes: Partial<Draft>) => {
    onTouch?.();
    setDraft({ ...draft, ...changes });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSaving(true);
    void onSave(draft).finally(() => setSaving(false));
  };
  return (
    <form onSubmit={submit}>
      <Unsaved isChanged={draft !== first && !isSaving} isInTab />
      <Card title="When">
        <div className={styles.fields}>
          <TextInput
            label="Name"
            required
            maxLength={100}
            value={draft.name}
            onChange={({ currentTarget }) => set({ name: currentTarget.value })}
          />
          <TriggerFields trigger={draft.trigger} onChange={(trigger) => set({ trigger })} />
        </div>
      </Card>
      <Card title="If">
        <If filter={draft.filter} refused={refusal} onChange={(filter) => set({ filter })} />
      </Card>
      <Card title="Then">
        <Steps steps={draft.steps} refused={refusal} onChange={(steps) => set({ steps })} />
      </Card>
      {refusal && (onRenew ? <RefusedChange refusal={refusal} renew={onRenew} /> : <Refused refusal={refusal} />)}
      <Button type="submit" loading={isBusy} disabled={!isReady}>
        {act}
      </Button>
    </form>
  );
}

interface IfProps {
  filter: Group | null;
  refused?: Refusal;
  onChange: (filter: Group | null) => void;
}

function If({ filter, refused, onChange }: IfProps) {
  if (!filter)
    return (
      <div className={styles.acts}>
        <span>For every contact.</span>
        <Button variant="default" onClick={() => onChange(group('all', [condition('tags', 'has_any')]))}>
          Add conditions on the contact
        </Button>
      </div>
    );
  return (
    <>
      <Conditions filter={filter} refused={refused} onChange={onChange} />
      <Button mt="sm" size="xs" variant="subtle" onClick={() => onChange(null)}>
        Remove all conditions
      </Button>
    </>
  );
}

interface StepsProps {
  steps: Step[];
  refused?: Refusal;
  onChange: (steps: Step[]) => void;
}

function Steps({ steps, refused, onChange }: StepsProps) {
  const replace = (at: number, step: Step) => onChange(steps.map((each, index) => (index === at ? step : each)));
  const remove = (at: number) => onChange(steps.filter((_, index) => index !== at));
  const raise = (at: number) => onChange(steps.toSpliced(at - 1, 2, ...steps.slice(at - 1, at + 1).toReversed()));
  return (
    <>
      <ol className={styles.steps} aria-label="Actions">
        {steps.map((step, at) => (
          <li key={step.key} className={styles.step}>
            <ActionFields
              action={step.action}
              place={at + 1}
              error={refused?.field?.includes(`actions[${at}]`) ? refused.text : undefined}
              onChange={(action) => replace(at, { ...step, action })}
            />
            <div className={styles.acts}>
              {at > 0 && <Small name={`Move action ${at + 1} up`} label="Move up" onClick={() => raise(at)} />}
              {steps.length > 1 && <Small name={`Remove action ${at + 1}`} label="Remove" onClick={() => remove(at)} />}
            </div>
          </li>
        ))}
      </ol>
      {steps.length < 20 && (
        <Button variant="default" onClick={() => onChange([...steps, freshStep()])}>
          Add an action
        </Button>
      )}
    </>
  );
}

function Small({ name, label, onClick }: { name: string; label: string; onClick: () => void }) {
  return (
    <Button size="compact-xs" variant="default" title={name} onClick={onClick}>
      {label}
    </Button>
  );
}
