// The settings of an agent: what it is told, when it answers, and its limits; each card is saved by itself.

import { Button, Checkbox, MultiSelect, NumberInput, Radio, Select, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { freshOf, useMay, type VariablesOf } from '../../graphql/index.ts';
import { Card, grouped, RefusedChange, Unsaved, useAct, words } from '../../ui/index.ts';
import styles from './agents.module.css';
import { DAYS, MODES } from './model.ts';
import { UpdateAgent } from './mutations.ts';
import { type Agent, AgentOne, NumberChoices, PeopleChoices, SegmentChoices } from './queries.ts';

type Changes = VariablesOf<typeof UpdateAgent>['changes'];

interface Form {
  agent: Agent;
  values: Agent;
  set: (changes: Partial<Agent>) => void;
}

const TEXTS = [
  { name: 'persona', label: 'Persona', hint: 'How it presents itself.' },
  { name: 'goals', label: 'Goals', hint: 'What it should achieve.' },
  { name: 'instructions', label: 'Instructions', hint: 'Facts in them may be stated. 2,000 characters at most.' },
] as const;

const LIMITS = [
  { name: 'debounce_seconds', label: 'Seconds it waits for further texts', min: 5, max: 300 },
  { name: 'max_messages', label: 'Texts without a person', min: 1, max: 50 },
  { name: 'max_unanswered', label: 'Texts without an answer', min: 1, max: 10 },
  { name: 'max_segments', label: 'Parts of a text', min: 1, max: 4 },
  { name: 'daily_limit', label: 'Drafts a day', min: 1, max: 10_000 },
] as const;

export function AgentSettings({ agent }: { agent: Agent }) {
  return (
    <>
      <Part title="Instructions" agent={agent} names={['name', 'persona', 'goals', 'instructions']} render={Told} />
      <Part
        title="When it answers"
        agent={agent}
        names={['mode', 'number_ids', 'segment_id', 'weekdays', 'opens_at', 'closes_at']}
        render={When}
      />
      <Part
        title="Limits and hand-over"
        agent={agent}
        names={[...LIMITS.map(({ name }) => name), 'hand_over_to', 'hand_over_message']}
        render={Limits}
      />
    </>
  );
}

interface PartProps {
  title: string;
  agent: Agent;
  names: (keyof Agent & keyof Changes)[];
  render: (form: Form) => ReactNode;
}

function Part({ title, agent, names, render: Fields }: PartProps) {
  const client = useClient();
  const act = useAct(UpdateAgent);
  const [begun, setBegun] = useState(agent);
  const [values, setValues] = useState(agent);
  const mayWrite = useMay('agents:write');
  const isAlike = (one: Agent, other: Agent) =>
    names.every((name) => JSON.stringify(one[name]) === JSON.stringify(other[name]));
  const isSaved = isAlike(values, begun);
  if (agent.version > begun.version && (isSaved || isAlike(agent, begun))) {
    setBegun(agent);
    if (isSaved) setValues(agent);
  }
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const changes = Object.fromEntries(names.map((name) => [name, values[name]])) as Changes;
    const done = await act.run({ id: begun.id, changes, version: begun.version });
    if (!done) return;
    setBegun(done.update_ai_agent);
    setValues((latest) => saved(done.update_ai_agent, values, latest));
  };
  const renew = async () => {
    const found = await client.query(AgentOne, { id: begun.id }, { requestPolicy: 'network-only' });
    const stored = freshOf(found)?.ai_agent;
    if (!stored) return;
    act.forget();
    setBegun(stored);
    setValues(stored);
  };
  return (
    <Card title={title}>
      <Unsaved isChanged={!isSaved} isInTab />
      <form className={styles.fields} onSubmit={(event) => void save(event)}>
        <Fields agent={agent} values={values} set={(changes) => setValues((latest) => ({ ...latest, ...changes }))} />
        {act.refusal && <RefusedChange refusal={act.refusal} renew={renew} />}
        {mayWrite && (
          <div>
            <Button type="submit" loading={act.isBusy} disabled={isSaved}>
              {isSaved ? 'Saved' : 'Save'}
            </Button>
          </div>
        )}
      </form>
    </Card>
  );
}

/** Return the saved agent with what was changed since it was sent. */
function saved(agent: Agent, sent: Agent, latest: Agent): Agent {
  const changed = Object.entries(latest).filter(([name, value]) => value !== sent[name as keyof Agent]);
  return { ...agent, ...Object.fromEntries(changed) };
}

function Told({ values, set }: Form) {
  return (
    <>
      <TextInput
        label="Name"
        required
        maxLength={100}
        value={values.name}
        onChange={({ currentTarget }) => set({ name: currentTarget.value })}
      />
      {TEXTS.map(({ name, label, hint }) => (
        <Textarea
          key={name}
          label={label}
          description={hint}
          autosize
          minRows={2}
          maxLength={2000}
          value={values[name]}
          onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
        />
      ))}
    </>
  );
}

function When({ values, set }: Form) {
  return (
    <>
      <Radio.Group label="Mode" value={values.mode} onChange={(mode) => set({ mode: mode as Agent['mode'] })}>
        {MODES.map(({ value, label, meaning }) => (
          <Radio key={value} value={value} label={label} description={meaning} mt="xs" />
        ))}
      </Radio.Group>
      {useMay('numbers:read') && <Numbers values={values} set={set} />}
      {useMay('campaigns:read') && <Segment values={values} set={set} />}
      <Checkbox.Group
        label="Days"
        description="No choice means every day."
        value={values.weekdays}
        onChange={(chosen) => set({ weekdays: DAYS.filter((day) => chosen.includes(day)) })}
      >
        <div className={styles.acts} style={{ marginTop: 8 }}>
          {DAYS.map((day) => (
            <Checkbox key={day} value={day} label={words(day)} />
          ))}
        </div>
      </Checkbox.Group>
      <div className={styles.pair}>
        <TextInput
          label="From"
          description="Such as 09:00."
          pattern="\d\d:\d\d"
          value={values.opens_at}
          onChange={({ currentTarget }) => set({ opens_at: currentTarget.value })}
        />
        <TextInput
          label="Until"
          description="Up to 24:00."
          pattern="\d\d:\d\d"
          value={values.closes_at}
          onChange={({ currentTarget }) => set({ closes_at: currentTarget.value })}
        />
      </div>
    </>
  );
}

function Numbers({ values, set }: Pick<Form, 'values' | 'set'>) {
  const [{ data }] = useQuery({ query: NumberChoices });
  const known =
    data?.phone_numbers.map(({ id, phone_number }) => ({ value: String(id), label: grouped(phone_number) })) ?? [];
  return (
    <MultiSelect
      label="Numbers"
      placeholder={values.number_ids.length === 0 ? 'All numbers' : undefined}
      clearButtonProps={{ 'aria-label': 'All numbers' }}
      data={known}
      value={values.number_ids.map(String)}
      onChange={(ids) => set({ number_ids: ids.map(Number) })}
    />
  );
}

function Segment({ values, set }: Pick<Form, 'values' | 'set'>) {
  const [{ data }] = useQuery({ query: SegmentChoices });
  return (
    <Select
      label="Contacts"
      placeholder="All contacts"
      clearable
      clearButtonProps={{ 'aria-label': 'All contacts' }}
      data={data?.segments.nodes.map(({ id, name }) => ({ value: String(id), label: name })) ?? []}
      value={values.segment_id === null ? null : String(values.segment_id)}
      onChange={(id) => set({ segment_id: id === null ? null : Number(id) })}
    />
  );
}

function Limits({ values, set }: Form) {
  return (
    <>
      <div className={styles.pair}>
        {LIMITS.map(({ name, label, min, max }) => (
          <NumberInput
            key={name}
            label={label}
            min={min}
            max={max}
            allowDecimal={false}
            hideControls
            value={values[name]}
            onChange={(value) => set({ [name]: Number(value) })}
          />
        ))}
      </div>
      {useMay('conversations:write') && <Person values={values} set={set} />}
      <Textarea
        label="Text when it hands over"
        description="320 characters at most."
        autosize
        maxLength={320}
        value={values.hand_over_message}
        onChange={({ currentTarget }) => set({ hand_over_message: currentTarget.value })}
      />
    </>
  );
}

function Person({ values, set }: Pick<Form, 'values' | 'set'>) {
  const [{ data }] = useQuery({ query: PeopleChoices });
  const people = data?.users.map(({ id, email, first_name, last_name }) => ({
    value: String(id),
    label: `${first_name} ${last_name}`.trim() || email,
  }));
  return (
    <Select
      label="Hands conversations over to"
      placeholder="Nobody in particular"
      clearable
      clearButtonProps={{ 'aria-label': 'Nobody in particular' }}
      data={people ?? []}
      value={values.hand_over_to === null ? null : String(values.hand_over_to)}
      onChange={(id) => set({ hand_over_to: id === null ? null : Number(id) })}
    />
  );
}
