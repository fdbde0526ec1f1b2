// The actions of an inbound webhook: a path for each field, tags, a sequence, an automation.

import { Button, Select, TagsInput, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Badge, Card, Refused, Unsaved, useAct, useEdits } from '../../ui/index.ts';
import styles from './integrations.module.css';
import { UpdateHook } from './mutations.ts';
import { Choices, type Hook } from './queries.ts';

const FIELDS = [
  ['phone', 'Phone'],
  ['first_name', 'First name'],
  ['last_name', 'Last name'],
  ['email', 'E-mail address'],
] as const;

type Draft = Omit<Hook, 'id'>;

export function HookActions({ hook: { id, ...start } }: { hook: Hook }) {
  const act = useAct(UpdateHook);
  const [draft, setDraft] = useState<Draft>(start);
  const edits = useEdits();
  const set = (changes: Partial<Draft>) => {
    edits.edit();
    setDraft({ ...draft, ...changes });
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const custom_fields = draft.custom_fields.filter(({ key, path }) => key.trim() && path.trim());
    await edits.save(() => act.run({ id, actions: { ...draft, custom_fields } }));
  };
  return (
    <Card title="Actions">
      <form className={styles.fields} onSubmit={(event) => void submit(event)}>
        <Unsaved isChanged={edits.isChanged} />
        <p>
          Each path names where a value stands in the JSON, such as <code>order.phone</code> or{' '}
          <code>phones[0].value</code>. The contact with the phone is added, or changed; empty values change nothing.
        </p>
        <div className={styles.pair}>
          {FIELDS.map(([name, label]) => (
            <TextInput
              key={name}
              label={`Path of: ${label}`}
              required={name === 'phone'}
              error={act.refusal?.field?.endsWith(name) && act.refusal.text}
              value={draft[name]}
              onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
            />
          ))}
        </div>
        <CustomFields rows={draft.custom_fields} onChange={(custom_fields) => set({ custom_fields })} />
        <TagsInput
          label="Add these tags"
          placeholder="Type a tag, then Enter"
          clearButtonProps={{ 'aria-label': 'Remove all tags' }}
          value={draft.tags}
          onChange={(tags) => set({ tags })}
        />
        {useMay('campaigns:send') && <Followers draft={draft} set={set} />}
        {act.refusal && <Refused refusal={act.refusal} />}
        <div>
          <Button type="submit" loading={act.isBusy}>
            Save the actions
          </Button>{' '}
          {edits.isSaved && (
            <span role="status">
              <Badge kind="good">Saved</Badge>
            </span>
          )}
        </div>
      </form>
    </Card>
  );
}

type Row = Draft['custom_fields'][number];

function CustomFields({ rows, onChange }: { rows: Row[]; onChange: (rows: Row[]) => void }) {
  const replace = (at: number, changes: Partial<Row>) =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...changes } : row)));
  return (
    <>
      {rows.map(({ key, path }, at) => (
        <div key={at} className={styles.pair}>
          <TextInput
            label={`Custom field ${at + 1}`}
            value={key}
            onChange={({ currentTarget }) => replace(at, { key: currentTarget.value })}
          />
          <TextInput
            label={`Path of custom field ${at + 1}`}
            value={path}
            onChange={({ currentTarget }) => replace(at, { path: currentTarget.value })}
          />
        </div>
      ))}
      <div>
        <Button size="xs" variant="default" onClick={() => onChange([...rows, { key: '', path: '' }])}>
          Add a custom field
        </Button>
      </div>
    </>
  );
}

function Followers({ draft, set }: { draft: Draft; set: (changes: Partial<Draft>) => void }) {
  const [{ data }] = useQuery({ query: Choices });
  return (
    <>
      <Select
        label="Enroll in the sequence"
        description="By it you attest that the people agreed to its texts."
        placeholder="None"
        clearable
        clearButtonProps={{ 'aria-label': 'No sequence' }}
        data={data?.sequences.nodes.map(({ id, name }) => ({ value: String(id), label: name })) ?? []}
        value={draft.sequence_id === null ? null : String(draft.sequence_id)}
        onChange={(id) => set({ sequence_id: id === null ? null : Number(id) })}
      />
      <Select
        label="Run the automation"
        description="It must be active; its trigger does not matter, its conditions do."
        placeholder="None"
        clearable
        clearButtonProps={{ 'aria-label': 'No automation' }}
        data={data?.automations.nodes.map(({ id, name }) => ({ value: String(id), label: name })) ?? []}
        value={draft.automation_id === null ? null : String(draft.automation_id)}
        onChange={(id) => set({ automation_id: id === null ? null : Number(id) })}
      />
    </>
  );
}
