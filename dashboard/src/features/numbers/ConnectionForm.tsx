// A new connection to a carrier, or new credentials of one: the fields are those of its kind.

import { Button, PasswordInput, Select, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { Failure, Refused, Skeleton, useAct, words } from '../../ui/index.ts';
import { AddConnection, Rotate } from './mutations.ts';
import styles from './numbers.module.css';
import { type CarrierKind, Kinds } from './queries.ts';

interface FormProps {
  rotated?: { id: number; kind: string };
  onDone: () => void;
}

export function ConnectionForm({ rotated, onDone }: FormProps) {
  const [{ data, error }, again] = useQuery({ query: Kinds });
  const [chosen, choose] = useState<string>();
  const kinds = data?.carrier_kinds ?? [];
  const name = rotated?.kind ?? chosen ?? kinds[0]?.name;
  const kind = kinds.find((each) => each.name === name);
  if (error && !data) return <Failure error={error} retry={again} />;
  if (!data) return <Skeleton rows={4} />;
  if (!kind) return <p>Accounts cannot change a connection of this kind.</p>;
  return (
    <div className={styles.fields}>
      {!rotated && (
        <Select
          label="Carrier"
          allowDeselect={false}
          data={kinds.map((each) => ({ value: each.name, label: each.title }))}
          value={kind.name}
          onChange={(value) => choose(value ?? undefined)}
          data-autofocus
        />
      )}
      <Fields key={kind.name} kind={kind} rotated={rotated} onDone={onDone} />
    </div>
  );
}

function Fields({ kind, rotated, onDone }: FormProps & { kind: CarrierKind }) {
  const add = useAct(AddConnection);
  const rotate = useAct(Rotate);
  const refusal = add.refusal ?? rotate.refusal;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const values = (group: 'settings' | 'credentials') =>
      kind[group]
        .map(({ name }) => ({ name, value: String(given.get(`${group}.${name}`) ?? '').trim() }))
        .filter(({ value }) => value);
    const credentials = values('credentials');
    const done = rotated
      ? await rotate.run({ id: rotated.id, credentials })
      : await add.run({ kind: kind.name, name: String(given.get('name')), credentials, settings: values('settings') });
    if (done) onDone();
  };
  return (
    <form className={styles.fields} onSubmit={(event) => void submit(event)}>
      {!rotated && <TextInput name="name" label="Name" description={`${kind.title} if it is empty.`} />}
      {kind.credentials.map(({ name, description, is_required }) => (
        <PasswordInput
          key={name}
          name={`credentials.${name}`}
          label={words(name)}
          description={description}
          required={is_required}
          autoComplete="off"
          visibilityToggleButtonProps={{ 'aria-label': `Show ${words(name)}` }}
        />
      ))}
      {!rotated &&
        kind.settings.map(({ name, description, is_required }) => (
          <TextInput
            key={name}
            name={`settings.${name}`}
            label={words(name)}
            description={description}
            required={is_required}
          />
        ))}
      {refusal && <Refused refusal={refusal} />}
      <p className={styles.soft}>
        {kind.title} is asked first: nothing is stored unless it accepts the credentials. They are never shown again.
      </p>
      <Button type="submit" loading={add.isBusy || rotate.isBusy}>
        {rotated ? 'Replace the credentials' : 'Ask the carrier and connect'}
      </Button>
    </form>
  );
}
