// A question before an act that cannot be undone: it says what goes, and its button names the act.

import { Button, Group, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Refusal } from '../graphql/errors.ts';
import { Refused } from './states.tsx';
import styles from './ui.module.css';

interface ConfirmProps {
  title: string;
  act: string;
  isOpen: boolean;
  isBusy?: boolean;
  refusal?: Refusal;
  isDangerous?: boolean;
  onClose: () => void;
  onConfirm: () => void;
  children: ReactNode;
}

export function Confirm({
  title,
  act,
  isOpen,
  isBusy,
  refusal,
  isDangerous = true,
  onClose,
  onConfirm,
  children,
}: ConfirmProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      {children}
      {refusal && <Refused refusal={refusal} />}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose} data-autofocus>
          Keep it
        </Button>
        <Button
          color={isDangerous ? '#b42318' : undefined}
          classNames={{ root: styles.act, label: styles.actLabel }}
          loading={isBusy}
          onClick={onConfirm}
        >
          {act}
        </Button>
      </Group>
    </Modal>
  );
}
