// Code to copy.

import { Button, CopyButton } from '@mantine/core';
import styles from './developers.module.css';

export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className={styles.code}>
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="default" onClick={copy} aria-label={`Copy: ${label}`}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
