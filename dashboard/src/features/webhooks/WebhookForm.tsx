// A new webhook.

import { Button, Modal, MultiSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Refused, useAct } from '../../ui/index.ts';
import { EVENTS } from './model.ts';
import { CreateWebhook } from './mutations.ts';

interface WebhookFormProps {
  isOpen: boolean;
  onClose: () => void;
  onMade: (secret: string) => void;
}

export function WebhookForm({ isOpen, onClose, onMade }: WebhookFormProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="New webhook">
      <Fields onMade={onMade} />
    </Modal>
  );
}

function Fields({ onMade }: Pick<WebhookFormProps, 'onMade'>) {
  const act = useAct(CreateWebhook);
  const [target_url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [events, setEvents] = useState<string[]>([]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const made = await act.run({ target_url, events, description });
    if (made) onMade(made.create_webhook.secret);
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
        data={EVENTS}
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
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" loading={act.isBusy} disabled={!target_url || events.length === 0}>
        Make the webhook
      </Button>
    </form>
  );
}
