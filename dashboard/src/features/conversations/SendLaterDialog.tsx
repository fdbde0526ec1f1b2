// The dialog for the time at which a text is to leave.

import { Button, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import type { Refusal } from '../../graphql/index.ts';
import { type ShownProps, useShown } from '../../shell/shown.ts';
import { FormDialog, instantIn, Refused, zoneOf } from '../../ui/index.ts';

interface SendLaterDialogProps extends ShownProps {
  isBusy: boolean;
  refusal?: Refusal;
  onChoose: (at: Date) => void;
}

export function SendLaterDialog({ isOpen, onClose, isBusy, refusal, onChoose }: SendLaterDialogProps) {
  const isShown = useShown(isOpen);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onChoose(instantIn(zoneOf(), String(new FormData(event.currentTarget).get('at'))));
  };
  return (
    <FormDialog isOpen={isShown} onClose={onClose} title="Send later">
      <form onSubmit={submit}>
        <TextInput
          type="datetime-local"
          max="9999-12-31T23:59"
          name="at"
          label="Time"
          required
          mb="md"
          data-autofocus
        />
        {refusal && <Refused refusal={refusal} />}
        <Button type="submit" fullWidth loading={isBusy}>
          Send at this time
        </Button>
      </form>
    </FormDialog>
  );
}
