// The texts of a sequence while it is written, along a line of time.

import { Button } from '@mantine/core';
import type { Refusal } from '../../graphql/index.ts';
import { Icon } from '../../ui/index.ts';
import { MOST_STEPS, newStep, type StepDraft } from './model.ts';
import styles from './sequences.module.css';
import { StepForm } from './StepForm.tsx';

interface StepsProps {
  steps: StepDraft[];
  refusal?: Refusal;
  onChange: (steps: StepDraft[]) => void;
}

/** Tell whether a refusal is about a text. */
export function namesStep(refusal: Refusal | undefined, index: number): boolean {
  return refusal?.field?.includes(`steps[${index}]`) ?? false;
}

export function Steps({ steps, refusal, onChange }: StepsProps) {
  const move = (from: number, to: number) => {
    const next = [...steps];
    next.splice(to, 0, ...next.splice(from, 1));
    if (to >= 0 && to < steps.length) onChange(next);
  };
  return (
    <>
      <ol className={styles.line} aria-label="Texts">
        {steps.map((step, index) => (
          <StepForm
            key={step.key}
            step={step}
            index={index}
            isLast={index === steps.length - 1}
            refused={namesStep(refusal, index) ? refusal : undefined}
            onChange={(next) => onChange(steps.map((each) => (each.key === next.key ? next : each)))}
            onMove={(by) => move(index, index + by)}
            onRemove={steps.length > 1 ? () => onChange(steps.filter(({ key }) => key !== step.key)) : undefined}
          />
        ))}
      </ol>
      {steps.length < MOST_STEPS && (
        <Button
          variant="default"
          className={styles.add}
          leftSection={<Icon name="plus" size={16} />}
          onClick={() => onChange([...steps, newStep(1)])}
        >
          Add a text
        </Button>
      )}
    </>
  );
}
