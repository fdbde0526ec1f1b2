// A new webhook, or the changes of one.

import { Button, MultiSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useClient } from 'urql';
import { freshOf } from '../../graphql/index.ts';
import { RefusedChange, useAct, useOnce } from '../../ui/index.ts';
import { EVENTS } from './model.ts';
import { CreateWebhook, UpdateWebhook } from './mutations.ts';
import { WebhookOne } from './queries.ts';
import type { Webhook } from './WebhookPage.tsx';

interface WebhookFormProps {
  webhook?: Webhook;
  /** Called with the secret of a new webhook. */
  onDone: (secret?: string) => void;
}

export function WebhookForm({ webhook, onDone }: WebhookFormProps) {
  const create = useOnce(CreateWebhook);
  const update = useAct(UpdateWebhook);
  const client = useClient();
  const [begun, setBegun] = useState(webhook);
  const [target_url, setUrl] = useState(webhook?.target_url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [events, setEvents] = useState<string[]>(webhook?.events ?? []);
  const refusal = create.refusal ?? update.refusal;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const given = { target_url, events, description };
    if (begun) {
      if (await update.run({ id: begun.id, changes: given, version: begun.version })) onDone();
      return;
    }
    const made = await create.run(given);
    if (made) onDone(made.create_webhook.secret);
  };
  const show = (stored: Webhook) => {
    setBegun(stored);
    setUrl(stored.target_url);
    setDescription(stored.description);
    setEvents(stored.events);
  };
  const isChanged =
    target_url !== begun?.target_url || description !== begun.description || String(events) !== String(begun.events);
  if (webhook && begun && webhook.version > begun.version && !isChanged) show(webhook);
  const renew = async () => {
    const variables = { id: begun?.id ?? 0 };
    const stored = freshOf(await client.query(WebhookOne, variables, { requestPolicy: 'network-only' }))?.webhook;
    if (!stored) return;
    update.forget();
    show(stored);
  };
  return (
    <form style={{ display: 'grid', gap: 12 }} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Address"
        placeholder="https://example.com/hooks"
        required
        value={target_url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        data-autofocus
      />
      <MultiSelect
        label="Events"
        data={[...new Set([...EVENTS, ...events])]}
        value={events}
        onChange={setEvents}
        searchable
        hidePickedOptions
        clearButtonProps={{ 'aria-label': 'Choose no event' }}
      />
      <TextInput
        label="Description"
        value={description}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
      />
      {refusal && <RefusedChange refusal={refusal} renew={renew} />}
      <Button type="submit" loading={create.isBusy || update.isBusy} disabled={!target_url || events.length === 0}>
        {webhook ? 'Save the webhook' : 'Create the webhook'}
      </Button>
    </form>
  );
}
