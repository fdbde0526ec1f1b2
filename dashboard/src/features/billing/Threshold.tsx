// The balance below which the owners are warned by mail.

import { Button, Group, NumberInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type FormEvent, useState } from 'react';
import { plural, Refused, useAct } from '../../ui/index.ts';
import { SetLowBalance } from './mutations.ts';

export function Threshold({ value, onSaved }: { value: number | null; onSaved: () => void }) {
  const [credits, setCredits] = useState<number | string>(value ?? '');
  const act = useAct(SetLowBalance);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const wanted = Number(credits) || null;
    if (!(await act.run({ credits: wanted }))) return;
    onSaved();
    notifications.show({
      message: wanted
        ? `Owners get a mail once the balance is below ${plural(wanted, 'credit')}.`
        : 'Nobody is warned about a low balance.',
    });
  };
  return (
    <form onSubmit={(event) => void save(event)}>
      <Group mt="md" align="end" gap="xs">
        <NumberInput
          label="Warn the owners below"
          description="In credits; empty for no warning."
          w={200}
          min={1}
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator=","
          hideControls
          value={credits}
          onChange={setCredits}
        />
        <Button type="submit" variant="default" loading={act.isBusy} disabled={(Number(credits) || null) === value}>
          Save the warning
        </Button>
      </Group>
      {act.refusal && <Refused refusal={act.refusal} />}
    </form>
  );
}
