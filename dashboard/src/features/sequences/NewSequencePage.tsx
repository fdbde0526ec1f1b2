// A new drip sequence.

import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Page, Unsaved, useAct } from '../../ui/index.ts';
import { EMPTY, newStep, type SequenceDraft, stepsOf } from './model.ts';
import { CreateSequence } from './mutations.ts';
import { isComplete, SequenceForm } from './SequenceForm.tsx';

export function NewSequencePage() {
  const navigate = useNavigate();
  const act = useAct(CreateSequence);
  const key = useRef('');
  const [draft, setDraft] = useState<SequenceDraft>(() => ({ ...EMPTY, steps: [newStep(0)] }));
  const submit = async () => {
    key.current ||= crypto.randomUUID();
    const made = await act.run({ ...draft, steps: stepsOf(draft.steps), idempotency_key: key.current });
    if (made) await navigate({ to: '/sequences/$id', params: { id: made.create_sequence.id }, ignoreBlocker: true });
  };
  return (
    <Page title="New sequence">
      <SequenceForm
        draft={draft}
        refusal={act.refusal}
        onChange={(next) => {
          key.current = '';
          act.forget();
          setDraft(next);
        }}
        onSubmit={() => void submit()}
      >
        <Button type="submit" loading={act.isBusy} disabled={!isComplete(draft)}>
          Create the sequence
        </Button>
      </SequenceForm>
      <Unsaved isChanged={draft.name !== '' || draft.steps.some(({ body }) => body !== '')} />
    </Page>
  );
}
