// The acts on a webhook: a test event, a replay of what failed, changes, and its removal.

import { Button, Select } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmButton, FormDialog, Refused, useAct } from '../../ui/index.ts';
import { RemoveWebhook, SendTest, UpdateWebhook } from './mutations.ts';
import { Failed } from './ReplayFailed.tsx';
import { WebhookForm } from './WebhookForm.tsx';
import type { Webhook } from './WebhookPage.tsx';

export function Actions({ webhook, onChanged }: { webhook: Webhook; onChanged: () => void }) {
  const { id, events, status, kind, target_url } = webhook;
  const navigate = useNavigate();
  const test = useAct(SendTest);
  const update = useAct(UpdateWebhook);
  const remove = useAct(RemoveWebhook);
  const [isChanging, setChanging] = useState(false);
  const refusal = test.refusal ?? update.refusal;
  const send = async (event: string | null) => {
    if (event && (await test.run({ id, event }))) onChanged();
  };
  const isActive = status === 'active';
  return (
    <>
      <Select
        w={212}
        aria-label="Send a test event"
        placeholder="Send a test event"
        value={null}
        data={events}
        onChange={(event) => void send(event)}
      />
      <Failed id={id} onChanged={onChanged} />
      <Button variant="default" onClick={() => setChanging(true)}>
        Change
      </Button>
      <Button
        variant="default"
        loading={update.isBusy}
        onClick={() => void update.run({ id, changes: { active: !isActive } })}
      >
        {isActive ? 'Disable' : 'Enable'}
      </Button>
      <ConfirmButton
        label="Remove"
        title="Remove this webhook?"
        act="Remove the webhook"
        state={remove}
        run={() => remove.run({ id, kind })}
        onDone={() => void navigate({ to: '/settings/keys' })}
      >
        {target_url} gets no events any more, and its deliveries that wait are canceled.
      </ConfirmButton>
      {refusal && <Refused refusal={refusal} />}
      <FormDialog isOpen={isChanging} onClose={() => setChanging(false)} title="Change the webhook">
        <WebhookForm webhook={webhook} onDone={() => setChanging(false)} />
      </FormDialog>
    </>
  );
}
