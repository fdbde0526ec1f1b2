// The form of a sequence, new or saved: its name, its texts along a line of time, its rules.

import { TextInput } from '@mantine/core';
import { type ReactNode, Suspense } from 'react';
import { type Refusal, useMay } from '../../graphql/index.ts';
import { Card, faultsOf, part, Refused } from '../../ui/index.ts';
import type { SequenceDraft } from './model.ts';
import styles from './sequences.module.css';
import { STEP_FIELDS } from './StepForm.tsx';
import { namesStep, Steps } from './Steps.tsx';

const Rules = part(async () => (await import('./Rules.tsx')).Rules);
const DraftPreview = part(async () => (await import('./Preview.tsx')).DraftPreview);

interface SequenceFormProps {
  draft: SequenceDraft;
  refusal?: Refusal;
  onChange: (draft: SequenceDraft) => void;
  onSubmit: () => void;
  /** Buttons, and what is said beside them. */
  children: ReactNode;
}

export function SequenceForm({ draft, refusal, onChange, onSubmit, children }: SequenceFormProps) {
  const faults = faultsOf(
    refusal,
    draft.steps.some((_, index) => namesStep(refusal, index)) ? [...STEP_FIELDS, 'name'] : ['name'],
  );
  const mayPreview = useMay('contacts:read');
  const edit = (changes: Partial<SequenceDraft>) => onChange({ ...draft, ...changes });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <div className={styles.columns}>
        <div className={styles.form}>
          <Card>
            <TextInput
              label="Name"
              description="Only you see it."
              maxLength={100}
              value={draft.name}
              error={faults.at('name')}
              onChange={({ currentTarget }) => edit({ name: currentTarget.value })}
            />
          </Card>
          <Steps steps={draft.steps} refusal={refusal} onChange={(steps) => edit({ steps })} />
        </div>
        <div>
          <Suspense>
            <Rules draft={draft} onChange={edit} />
            {mayPreview && <DraftPreview draft={draft} />}
          </Suspense>
        </div>
      </div>
      {faults.elsewhere && refusal?.code !== 'conflict' && <Refused refusal={faults.elsewhere} />}
      <div className={styles.foot}>{children}</div>
    </form>
  );
}

export function isComplete({ name, steps }: SequenceDraft): boolean {
  return name.trim() !== '' && steps.every(({ body }) => body.trim() !== '');
}
