// The acts on a webhook: a test event, a replay of what failed, changes, and its removal.

import { Button, Modal, Select } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmButton, plural, Refused, useAct } from '../../ui/index.ts';
import { RemoveWebhook, ReplayFailed, SendTest, UpdateWebhook } from './mutations.ts';
import { WebhookForm } from './WebhookForm.tsx';
import type { Webhook } from './WebhookPage.tsx';

const HOUR = 60 * 60 * 1000;
const PERIODS = [
  { value: '1', label: 'Failed in the last hour' },
  { value: '24', label: 'Failed in the last 24 hours' },
  { value: '168', label: 'Failed in the last 7 days' },
];

export function Actions({ webhook, onChanged }: { webhook: Webhook; onChanged: () => void }) {
  const { id, events, status, kind, target_url } = webhook;
  const navigate = useNavigate();
  const test = useAct(SendTest);
  const update = useAct(UpdateWebhook);
  const replay = useAct(ReplayFailed);
  const remove = useAct(RemoveWebhook);
  const [isChanging, setChanging] = useState(false);
  const [replayed, setReplayed] = useState<number>();
  const refusal = test.refusal ?? update.refusal ?? replay.refusal;
  const send = async (event: string | null) => {
    if (event && (await test.run({ id, event }))) onChanged();
  };
  const again = async (hours: string | null) => {
    if (!hours) return;
    const done = await replay.run({ id, since: new Date(Date.now() - Number(hours) * HOUR).toISOString() });
    setReplayed(done?.replay_webhook_deliveries.replayed);
    onChanged();
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
      <Select
        w={212}
        aria-label="Replay what failed"
        placeholder="Replay what failed"
        value={null}
        data={PERIODS}
        onChange={(hours) => void again(hours)}
      />
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
      <span role="status">{replayed !== undefined && `${plural(replayed, 'delivery', 'deliveries')} sent again`}</span>
      {refusal && <Refused refusal={refusal} />}
      <Modal opened={isChanging} onClose={() => setChanging(false)} title="Change the webhook">
        <WebhookForm webhook={webhook} onDone={() => setChanging(false)} />
      </Modal>
    </>
  );
}
