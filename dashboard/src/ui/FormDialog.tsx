// A dialog with a form: before it is closed with changes, it asks.

import { Button, Group, Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Notice } from './states.tsx';

interface FormDialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  size?: string;
  children: ReactNode;
}

export function FormDialog({ title, isOpen, onClose, size, children }: FormDialogProps) {
  const [state, setState] = useState<'changed' | 'asked'>();
  if (!isOpen && state) setState(undefined);
  return (
    <Modal opened={isOpen} onClose={() => (state ? setState('asked') : onClose())} title={title} size={size}>
      {state === 'asked' && (
        <Notice kind="warn">
          <span role="alert">What you typed is not saved yet.</span>
          <Group gap={8}>
            <Button size="xs" variant="default" onClick={() => setState('changed')}>
              Stay here
            </Button>
            <Button size="xs" color="#b42318" onClick={onClose}>
              Close without saving
            </Button>
          </Group>
        </Notice>
      )}
      <div onChange={() => setState('changed')}>{children}</div>
    </Modal>
  );
}
