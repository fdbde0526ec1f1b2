// A dialog with a form: before it is closed with changes, it asks.

import { Button, Group, Modal } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { type KeyboardEvent, type MouseEvent, type ReactNode, useState } from 'react';
import { Notice } from './states.tsx';

interface FormDialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  size?: string;
  children: ReactNode;
}

/** A chosen option and a removed one, which change a value without an event of a field. */
const CHANGING = '[role=option], .mantine-Pill-remove';

export function FormDialog({ title, isOpen, onClose, size, children }: FormDialogProps) {
  const [state, setState] = useState<'changed' | 'asked'>();
  if (!isOpen && state) setState(undefined);
  const edit = () => setState('changed');
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ action }) => action === 'BACK' || action === 'FORWARD' || action === 'GO',
    enableBeforeUnload: true,
    disabled: !state,
    withResolver: true,
  });
  const isAsked = state === 'asked' || status === 'blocked';
  const stay = () => {
    reset?.();
    edit();
  };
  return (
    <Modal opened={isOpen} onClose={() => (state ? setState('asked') : onClose())} title={title} size={size}>
      {isAsked && (
        <Notice kind="warn">
          <span role="alert">What you typed is not saved yet.</span>
          <Group gap={8}>
            <Button size="xs" variant="default" onClick={stay}>
              Stay here
            </Button>
            <Button size="xs" color="#b42318" onClick={proceed ?? onClose}>
              Close without saving
            </Button>
          </Group>
        </Notice>
      )}
      <div
        onChange={edit}
        onClick={(event: MouseEvent) => (event.target as Element).closest(CHANGING) && edit()}
        onKeyDown={({ key }: KeyboardEvent) => key === 'Backspace' && edit()}
      >
        {children}
      </div>
    </Modal>
  );
}
