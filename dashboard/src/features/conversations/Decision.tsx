// The question whether an unclear reply was an opt-out: decided with one key.

import { Button, Group } from '@mantine/core';
import { useKeys } from '../../shell/keys.ts';
import { Notice, Refused, useAct } from '../../ui/index.ts';
import { Decide } from './mutations.ts';

export function Decision({ id }: { id: number }) {
  const act = useAct(Decide);
  const decide = (opted_out: boolean) => void act.run({ id, opted_out });
  useKeys((key) => {
    if (key === 'y') decide(true);
    if (key === 'x') decide(false);
  });
  return (
    <Notice kind="warn">
      <span>
        <strong>Was this an opt-out?</strong> Nothing promotional is sent until you decide.
      </span>
      <Group gap={8}>
        <Button size="xs" loading={act.isBusy} onClick={() => decide(true)} rightSection="y">
          Yes, opt them out
        </Button>
        <Button size="xs" variant="default" loading={act.isBusy} onClick={() => decide(false)} rightSection="x">
          No, go on
        </Button>
      </Group>
      {act.refusal && <Refused refusal={act.refusal} />}
    </Notice>
  );
}
