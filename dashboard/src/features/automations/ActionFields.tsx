// The fields of one action: its kind decides which there are.

import { NumberInput, Select, Textarea, TextInput } from '@mantine/core';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Cost, words } from '../../ui/index.ts';
import { type Action, ACTIONS, STAGES } from './model.ts';
import { PeopleChoices, SequenceChoices } from './queries.ts';

interface FieldsProps {
  action: Action;
  place: number;
  error?: string;
  onChange: (action: Action) => void;
}

export function ActionFields({ action, place, error, onChange }: FieldsProps) {
  return (
    <>
      <Select
        label={`Action ${place}`}
        allowDeselect={false}
        data={Object.entries(ACTIONS).map(([value, label]) => ({ value, label }))}
        value={action.kind}
        onChange={(kind) => onChange({ kind: kind as Action['kind'] })}
      />
      <Value action={action} error={error} set={(changes) => onChange({ ...action, ...changes })} />
    </>
  );
}

interface ValueProps {
  action: Action;
  error?: string;
  set: (changes: Partial<Action>) => void;
}

function Value({ action, error, set }: ValueProps) {
  switch (action.kind) {
    case 'send':
      return (
        <>
          <Textarea
            label="Text"
            description="{first_name|there} becomes the name, or there where it is not known."
            required
            autosize
            minRows={2}
            maxLength={1600}
            error={error}
            value={action.body ?? ''}
            onChange={({ currentTarget }) => set({ body: currentTarget.value })}
          />
          <Cost text={action.body ?? ''} />
        </>
      );
    case 'add_tag':
    case 'remove_tag':
      return (
        <TextInput
          label="Tag"
          required
          maxLength={64}
          error={error}
          value={action.tag ?? ''}
          onChange={({ currentTarget }) => set({ tag: currentTarget.value })}
        />
      );
    case 'set_stage':
      return (
        <Select
          label="Stage"
          error={error}
          data={STAGES.map((value) => ({ value, label: words(value) }))}
          value={action.stage ?? null}
          onChange={(stage) => set({ stage })}
        />
      );
    case 'assign':
      return <Person action={action} error={error} set={set} />;
    case 'enroll':
      return <Sequence action={action} error={error} set={set} />;
    case 'notify':
    case 'webhook':
      return (
        <Textarea
          label={action.kind === 'notify' ? 'Text of the notice' : 'Text of the event'}
          required
          autosize
          maxLength={500}
          error={error}
          value={action.text ?? ''}
          onChange={({ currentTarget }) => set({ text: currentTarget.value })}
        />
      );
    case 'wait':
      return (
        <NumberInput
          label="Minutes"
          description="1,440 minutes are a day."
          required
          min={1}
          allowDecimal={false}
          error={error}
          value={action.minutes ?? ''}
          onChange={(minutes) => set({ minutes: Number(minutes) })}
        />
      );
    default:
      return null;
  }
}

function Person({ action, error, set }: ValueProps) {
  const [{ data }] = useQuery({ query: PeopleChoices, pause: !useMay('conversations:write') });
  const people = data?.users.map(({ id, email, first_name, last_name }) => ({
    value: String(id),
    label: `${first_name} ${last_name}`.trim() || email,
  }));
  return (
    <Select
      label="Person"
      error={error}
      data={people ?? []}
      value={action.user_id ? String(action.user_id) : null}
      onChange={(id) => set({ user_id: id === null ? null : Number(id) })}
    />
  );
}

function Sequence({ action, error, set }: ValueProps) {
  const [{ data }] = useQuery({ query: SequenceChoices, pause: !useMay('campaigns:read') });
  return (
    <Select
      label="Sequence"
      error={error}
      data={data?.sequences.nodes.map(({ id, name }) => ({ value: String(id), label: name })) ?? []}
      value={action.sequence_id ? String(action.sequence_id) : null}
      onChange={(id) => set({ sequence_id: id === null ? null : Number(id) })}
    />
  );
}
