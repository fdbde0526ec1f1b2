// The texts about bookings: their wording, the number that they leave from, and the question of the consent.

import { Button, Select, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Badge, Card, Cost, grouped, Refused, Unsaved, useAct, useEdits } from '../../ui/index.ts';
import styles from './integrations.module.css';
import { UpdateTool } from './mutations.ts';
import { NumberChoices, type Whole } from './queries.ts';

type Text = Whole['texts'][number];

const LABELS: Record<Text['kind'], string> = {
  confirmation: 'Confirmation, when a booking is made',
  reminder_day: 'Reminder, on the day before',
  reminder_hour: 'Reminder, an hour before',
  rescheduled: 'When a booking is moved',
  canceled: 'When a booking is canceled',
  no_show: 'When the person did not come',
};

export function BookingSettings({ integration }: { integration: Whole }) {
  const { id, name, phone_number_id, consent_question } = integration;
  const act = useAct(UpdateTool);
  const edits = useEdits();
  const [changes, setChanges] = useState({ name, phone_number_id, consent_question });
  const [bodies, setBodies] = useState<Record<string, string>>({});
  const edit = (change: () => void) => {
    edits.edit();
    change();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const texts = integration.texts
      .filter(({ kind, body }) => bodies[kind] !== undefined && bodies[kind] !== body)
      .map(({ kind }) => ({ kind, body: bodies[kind] }));
    await edits.save(async () => {
      const done = await act.run({ id, changes: { ...changes, ...(texts.length > 0 && { texts }) } });
      if (done) setBodies((latest) => withoutSent(latest, bodies));
      return done;
    });
  };
  return (
    <Card title="Texts about bookings">
      <form className={styles.wide} onSubmit={(event) => void submit(event)}>
        <Unsaved isChanged={edits.isChanged} />
        <TextInput
          label="Name"
          required
          maxLength={100}
          value={changes.name}
          onChange={({ currentTarget }) => edit(() => setChanges({ ...changes, name: currentTarget.value }))}
        />
        {useMay('numbers:read') && (
          <NumberField
            value={changes.phone_number_id}
            onChange={(number) => edit(() => setChanges({ ...changes, phone_number_id: number }))}
          />
        )}
        <TextInput
          label="Question of the consent"
          description="Its positive answer in the booking form is consent to texts. Empty where the field for text reminders is."
          value={changes.consent_question}
          onChange={({ currentTarget }) =>
            edit(() => setChanges({ ...changes, consent_question: currentTarget.value }))
          }
        />
        {integration.texts.map((text) => (
          <Wording
            key={text.kind}
            text={text}
            value={bodies[text.kind] ?? text.body}
            onChange={(body) => edit(() => setBodies({ ...bodies, [text.kind]: body }))}
          />
        ))}
        {act.refusal && <Refused refusal={act.refusal} />}
        <div>
          <Button type="submit" loading={act.isBusy}>
            Save the texts
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

function withoutSent(latest: Record<string, string>, sent: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(latest).filter(([kind, body]) => sent[kind] !== body));
}

function Wording({ text, value, onChange }: { text: Text; value: string; onChange: (body: string) => void }) {
  return (
    <div>
      <Textarea
        label={LABELS[text.kind]}
        description={value ? undefined : 'Empty: no such text is sent.'}
        autosize
        maxLength={1600}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {value && <Cost text={value} />}
    </div>
  );
}

function NumberField({ value, onChange }: { value: number | null; onChange: (id: number | null) => void }) {
  const [{ data }] = useQuery({ query: NumberChoices });
  return (
    <Select
      label="Texts leave from"
      placeholder="The number of the conversation"
      clearable
      clearButtonProps={{ 'aria-label': 'The number of the conversation' }}
      data={
        data?.phone_numbers.map(({ id, phone_number }) => ({ value: String(id), label: grouped(phone_number) })) ?? []
      }
      value={value === null ? null : String(value)}
      onChange={(id) => onChange(id === null ? null : Number(id))}
    />
  );
}
