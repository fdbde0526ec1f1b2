// The text as some of the recipients read it.

import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { Card, grouped, plural } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import type { Previewed } from './usePreview.ts';

export function Samples({ samples }: { samples: Previewed['samples'] }) {
  const [at, setAt] = useState(0);
  const sample = samples[Math.min(at, samples.length - 1)];
  if (!sample) return null;
  const step = (by: number) => setAt((at + by + samples.length) % samples.length);
  return (
    <Card title={`As ${grouped(sample.phone)} reads it`}>
      <p className={styles.bubble} dir="auto">
        {sample.body}
      </p>
      <p className={styles.soft}>
        {plural(sample.segments, 'part')} · {sample.encoding === 'gsm_7' ? 'GSM-7' : 'UCS-2'} ·{' '}
        {plural(sample.credits, 'credit')}
        {sample.missing.length > 0 && ` · not known: ${sample.missing.join(', ')}`}
      </p>
      {samples.length > 1 && (
        <Group gap={8} mt="xs">
          <Button size="xs" variant="default" onClick={() => step(-1)}>
            Previous person
          </Button>
          <Button size="xs" variant="default" onClick={() => step(1)}>
            Next person
          </Button>
          <span className={styles.soft}>
            {at + 1} of {samples.length}
          </span>
        </Group>
      )}
    </Card>
  );
}
