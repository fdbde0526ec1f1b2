// A new OAuth client of the account.

import { Button, Checkbox, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Refused, useAct } from '../../ui/index.ts';
import styles from './accounts.module.css';
import { Register } from './applications.ts';
import type { Made } from './Clients.tsx';
import { ScopeChoice } from './ScopeChoice.tsx';

export function ClientForm({ onMade }: { onMade: (made: Made) => void }) {
  const act = useAct(Register);
  const [key] = useState(() => crypto.randomUUID());
  const [name, setName] = useState('');
  const [addresses, setAddresses] = useState('');
  const [scopes, setScopes] = useState<string[]>([]);
  const [confidential, setConfidential] = useState(true);
  const redirect_uris = addresses.split(/\s+/).filter(Boolean);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const made = await act.run({ name, redirect_uris, scopes: scopes.length > 0 ? scopes : null, confidential, key });
    if (made) onMade(made.create_oauth_client);
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Name"
        description="The page that asks people for their permission shows it."
        required
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        data-autofocus
      />
      <Textarea
        label="Redirect addresses"
        description="Where people come back to, one on each line, such as https://example.com/callback."
        required
        autosize
        minRows={2}
        value={addresses}
        onChange={({ currentTarget }) => setAddresses(currentTarget.value)}
      />
      <Checkbox
        label="It keeps a secret on a server"
        description="Not so for apps on phones and pages in browsers: they prove themselves by PKCE."
        checked={confidential}
        onChange={({ currentTarget }) => setConfidential(currentTarget.checked)}
      />
      <ScopeChoice label="Scopes that it may ask for" scopes={scopes} onChange={setScopes} />
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" loading={act.isBusy} disabled={!name.trim() || redirect_uris.length === 0}>
        Register the application
      </Button>
    </form>
  );
}
