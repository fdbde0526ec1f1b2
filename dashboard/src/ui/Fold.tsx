// Controls that stand open in a wide window, and behind a button on a phone.

import { ActionIcon } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Icon, type IconName } from './icons.tsx';
import styles from './ui.module.css';

interface FoldProps {
  label: string;
  icon: IconName;
  /** Whether one of the controls is in use, which the button shows. */
  isUsed?: boolean;
  children: ReactNode;
}

export function Fold({ label, icon, isUsed, children }: FoldProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ActionIcon
        className={styles.fold}
        variant={isUsed ? 'light' : 'default'}
        aria-label={isUsed ? `${label}: in use` : label}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={icon} size={18} />
      </ActionIcon>
      <div className={isOpen ? styles.unfolded : styles.folded}>{children}</div>
    </>
  );
}
