// A new key: its name, what it may do, and when it ends.

import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useMay } from '../../graphql/index.ts';
import { FormDialog, instantIn, Refused, useOnce, zoneOf } from '../../ui/index.ts';
import styles from './accounts.module.css';
import type { MadeKey } from './KeysPage.tsx';
import { CreateAutomationKey, CreateKey } from './mutations.ts';
import { ScopeChoice } from './ScopeChoice.tsx';

const KINDS = [
  { value: 'general', label: 'Programs' },
  { value: 'automation', label: 'Automation platform' },
];

interface KeyFormProps {
  isOpen: boolean;
  onClose: () => void;
  onMade: (key: MadeKey) => void;
}

export function KeyForm({ isOpen, onClose, onMade }: KeyFormProps) {
  return (
    <FormDialog isOpen={isOpen} onClose={onClose} title="New key" size="lg">
      <Fields onMade={onMade} />
    </FormDialog>
  );
}

function Fields({ onMade }: Pick<KeyFormProps, 'onMade'>) {
  const isOwner = useMay('account:write');
  const [kind, setKind] = useState(isOwner ? 'general' : 'automation');
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>([]);
  const [until, setUntil] = useState('');
  const general = useOnce(CreateKey);
  const automation = useOnce(CreateAutomationKey);
  const refusal = general.refusal ?? automation.refusal;
  const choose = (chosen: string) => {
    setKind(chosen);
    setScopes([]);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const expires_at = until ? instantIn(zoneOf(), `${until}T23:59:59`).toISOString() : null;
    const given = { name, scopes: scopes.length > 0 ? scopes : null, expires_at };
    const made =
      kind === 'general'
        ? (await general.run(given))?.create_api_key
        : (await automation.run(given))?.create_automation_key;
    if (made) onMade(made);
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      {isOwner && (
        <SegmentedControl size="xs" fullWidth aria-label="Kind" data={KINDS} value={kind} onChange={choose} />
      )}
      <TextInput
        label="Name"
        description="The program that uses it, such as Shop or Night shift."
        required
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        data-autofocus
      />
      <ScopeChoice label="Scopes" scopes={scopes} onChange={setScopes} kind={kind === 'automation' ? 'auto' : 'svc'} />
      <TextInput
        type="date"
        max="9999-12-31"
        label="Ends after"
        description="Empty for a key that does not end."
        value={until}
        onChange={({ currentTarget }) => setUntil(currentTarget.value)}
      />
      {refusal && <Refused refusal={refusal} />}
      <Button type="submit" loading={general.isBusy || automation.isBusy} disabled={!name.trim()}>
        Create the key
      </Button>
    </form>
  );
}
