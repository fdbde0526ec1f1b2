// A button for an act that is asked about first; the dialog closes when the act is done.

import { Button, type ButtonProps } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Refusal } from '../graphql/errors.ts';
import { Confirm } from './Confirm.tsx';

interface ConfirmButtonProps extends ButtonProps {
  label: string;
  /** The accessible name where the label alone does not say what the act concerns. */
  name?: string;
  title: string;
  act: string;
  state: { isBusy: boolean; refusal?: Refusal };
  isDangerous?: boolean;
  /** Carry the act out; the dialog stays open for undefined. */
  run: () => Promise<unknown>;
  onDone?: () => void;
  children: ReactNode;
}

export function ConfirmButton({
  label,
  name,
  title,
  act,
  state,
  isDangerous,
  run,
  onDone,
  children,
  ...looks
}: ConfirmButtonProps) {
  const [isAsked, setAsked] = useState(false);
  const confirm = async () => {
    if ((await run()) === undefined) return;
    setAsked(false);
    onDone?.();
  };
  return (
    <>
      <Button variant="default" {...looks} aria-label={name} onClick={() => setAsked(true)}>
        {label}
      </Button>
      <Confirm
        title={title}
        act={act}
        isOpen={isAsked}
        isBusy={state.isBusy}
        refusal={state.refusal}
        isDangerous={isDangerous}
        onClose={() => setAsked(false)}
        onConfirm={() => void confirm()}
      >
        {children}
      </Confirm>
    </>
  );
}
