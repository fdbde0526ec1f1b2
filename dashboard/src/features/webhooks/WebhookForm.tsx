// A new webhook, or the changes of one.

import { Button, MultiSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Refused, useAct, useOnce } from '../../ui/index.ts';
import { EVENTS } from './model.ts';
import { CreateWebhook, UpdateWebhook } from './mutations.ts';

interface WebhookFormProps {
  webhook?: { id: number; target_url: string; description: string; events: string[] };
  /** Called with the secret of a new webhook. */
  onDone: (secret?: string) => void;
}

export function WebhookForm({ webhook, onDone }: WebhookFormProps) {
  const create = useOnce(CreateWebhook);
  const update = useAct(UpdateWebhook);
  const [target_url, setUrl] = useState(webhook?.target_url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [events, setEvents] = useState<string[]>(webhook?.events ?? []);
  const refusal = create.refusal ?? update.refusal;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const given = { target_url, events, description };
    if (webhook) {
      if (await update.run({ id: webhook.id, changes: given })) onDone();
      return;
    }
    const made = await create.run(given);
    if (made) onDone(made.create_webhook.secret);
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
      {refusal && <Refused refusal={refusal} />}
      <Button type="submit" loading={create.isBusy || update.isBusy} disabled={!target_url || events.length === 0}>
        {webhook ? 'Save the webhook' : 'Create the webhook'}
      </Button>
    </form>
  );
}
