// The forms of acts on many contacts that need more than a choice.

import { Button, Checkbox, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Refused, useAct } from '../../ui/index.ts';
import styles from './contacts.module.css';
import { BulkEnroll, BulkTag } from './mutations.ts';
import { ContactSequences } from './queries.ts';
import type { ContactsSearch } from './search.ts';

interface Selected {
  ids?: number[];
  filter?: ContactsSearch;
}

interface BulkFormProps {
  /** The number of contacts, in words. */
  people: string;
  contacts: Selected;
  onJob: (id: number) => void;
}

export function TagForm({ people, contacts, onJob }: BulkFormProps) {
  const [tag, setTag] = useState('');
  const [isRemoved, setRemoved] = useState(false);
  const act = useAct(BulkTag);
  const label = isRemoved ? `Remove the tag from ${people}` : `Tag ${people}`;
  return (
    <form
      className={styles.form}
      onSubmit={async (event) => {
        event.preventDefault();
        const made = await act.run({ contacts, [isRemoved ? 'remove' : 'add']: [tag] });
        if (made) onJob(made.bulk_tag.id);
      }}
    >
      <TextInput label="Tag" value={tag} onChange={({ currentTarget }) => setTag(currentTarget.value)} data-autofocus />
      <Checkbox
        label="Remove it instead"
        checked={isRemoved}
        onChange={({ currentTarget }) => setRemoved(currentTarget.checked)}
      />
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" disabled={!tag.trim()} loading={act.isBusy}>
        {label}
      </Button>
    </form>
  );
}

export function EnrollForm({ people, contacts, onJob }: BulkFormProps) {
  const [{ data }] = useQuery({ query: ContactSequences, requestPolicy: 'cache-and-network' });
  const [sequence, setSequence] = useState<string | null>(null);
  const [isAgreed, setAgreed] = useState(false);
  const act = useAct(BulkEnroll);
  const found = data?.sequences.nodes ?? [];
  const chosen = found.find(({ id }) => String(id) === sequence);
  return (
    <form
      className={styles.form}
      onSubmit={async (event) => {
        event.preventDefault();
        const made = chosen && (await act.run({ contacts, sequence_id: chosen.id }));
        if (made) onJob(made.bulk_enroll.id);
      }}
    >
      <Select
        label="Sequence"
        placeholder="An active sequence"
        searchable
        nothingFoundMessage="No active sequence matches."
        data={found.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={sequence}
        onChange={setSequence}
      />
      <Checkbox
        label="Each of them gave prior express written consent to these texts"
        checked={isAgreed}
        onChange={({ currentTarget }) => setAgreed(currentTarget.checked)}
      />
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" disabled={!chosen || !isAgreed} loading={act.isBusy}>
        {chosen ? `Enroll ${people} in ${chosen.name}` : `Enroll ${people}`}
      </Button>
    </form>
  );
}
