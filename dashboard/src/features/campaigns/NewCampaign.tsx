// A new campaign begins with its name.

import { Button, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { FormDialog, Refused, useOnce } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { CreateCampaign } from './mutations.ts';

const BEGINNING = 'Hi {first_name|there}, ';

export function NewCampaign({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const act = useOnce(CreateCampaign);
  const [name, setName] = useState('');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const made = await act.run({ campaign: { name, body: BEGINNING, is_smart_encoded: true, is_strict: false } });
    if (made) await navigate({ to: '/campaigns/$id', params: { id: made.create_campaign.id }, search: {} });
  };
  return (
    <FormDialog isOpen={isOpen} onClose={onClose} title="New campaign">
      <form className={styles.form} onSubmit={(event) => void submit(event)}>
        <TextInput
          label="Name"
          description="Only you see it."
          maxLength={100}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          data-autofocus
        />
        {act.refusal && <Refused refusal={act.refusal} />}
        <Button type="submit" loading={act.isBusy} disabled={!name.trim()}>
          Create the campaign
        </Button>
      </form>
    </FormDialog>
  );
}
