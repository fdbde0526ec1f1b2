// The states of a page beside its content: loading, empty, refused.

import { Button } from '@mantine/core';
import type { CombinedError } from '@urql/core';
import type { ReactNode } from 'react';
import { type Refusal, refusalOf } from '../graphql/errors.ts';
import { Icon } from './icons.tsx';
import styles from './ui.module.css';

export function Empty({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p>{children}</p>
      {action}
    </div>
  );
}

export function Skeleton({ rows = 6 }: { rows?: number }) {
  const widths = Array.from({ length: rows }, (_, index) => `${90 - ((index * 17) % 50)}%`);
  return (
    <div aria-busy="true" role="status" aria-label="Loading">
      {widths.map((width) => (
        <div key={width} className={styles.skeleton} style={{ width }} />
      ))}
    </div>
  );
}

export function Failure({ error, retry }: { error: CombinedError; retry?: () => void }) {
  return <Refused refusal={refusalOf(error)} retry={retry} />;
}

interface RefusedProps {
  refusal: Refusal;
  retry?: () => void;
  retryLabel?: string;
}

export function Refused({ refusal, retry, retryLabel = 'Try again' }: RefusedProps) {
  return (
    <div role="alert" className={`${styles.notice} ${styles.bad}`}>
      <Icon name="warning" />
      <span>
        {refusal.text}
        {refusal.requestId && <span className={styles.mono}> Request {refusal.requestId}</span>}
      </span>
      {retry && (
        <Button variant="default" size="xs" onClick={retry}>
          {retryLabel}
        </Button>
      )}
    </div>
  );
}

/** What the service says to a form; if another person has changed the record, their version can be shown. */
export function RefusedChange({ refusal, renew }: { refusal: Refusal; renew: () => Promise<void> }) {
  if (refusal.field !== 'expected_version') return <Refused refusal={refusal} />;
  return <Refused refusal={refusal} retry={() => void renew()} retryLabel="Show what is saved" />;
}

export function Notice({
  kind = 'plain',
  children,
}: {
  kind?: 'good' | 'warn' | 'bad' | 'plain';
  children: ReactNode;
}) {
  return <div className={`${styles.notice} ${styles[kind]}`}>{children}</div>;
}
