// Actions on the chosen contacts, or on all that match the filter.

import { Button, Checkbox, Select } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Confirm, count, FormDialog, plural, Refused, useAct, words } from '../../ui/index.ts';
import { nameOf } from './Assignee.tsx';
import { EnrollForm, TagForm } from './BulkForms.tsx';
import styles from './contacts.module.css';
import { BulkAssign, BulkDelete, BulkStage } from './mutations.ts';
import { ContactUsers } from './queries.ts';
import { type ContactsSearch, isOneChoice, oneOf, STAGES } from './search.ts';

const NOBODY = 'nobody';

/** The number of contacts that match. */
export interface Total {
  total_count: number;
  /** False where more contacts match: the service counts to a limit. */
  total_is_exact: boolean;
}

interface BulkBarProps {
  chosen: ReadonlySet<number>;
  filter: ContactsSearch;
  total?: Total;
  /** Called with the id of the job that carries an act out. */
  onJob: (id: number) => void;
}

export function BulkBar({ chosen, filter, total, onJob }: BulkBarProps) {
  const [isEveryone, setEveryone] = useState(false);
  const [asked, setAsked] = useState<'tag' | 'enroll' | 'delete'>();
  const acts = { stage: useAct(BulkStage), assign: useAct(BulkAssign), remove: useAct(BulkDelete) };
  const mayWrite = useMay('contacts:write');
  const mayEnroll = useMay('campaigns:send');
  const mayDelete = useMay('contacts:delete');
  const { segment, stage, status, search, tag } = filter;
  const everyone = segment ? { segment_id: segment } : { filter: { stage, status, search, tag } };
  const contacts = isEveryone ? everyone : { ids: [...chosen] };
  const people = isEveryone ? wordsOf(total) : plural(chosen.size, 'contact');
  const refusal = acts.stage.refusal ?? acts.assign.refusal;
  const follow = (id?: number) => {
    if (id) onJob(id);
  };
  const close = () => setAsked(undefined);
  return (
    <div className={styles.chosen}>
      <strong>{people} chosen</strong>
      {total && total.total_count > chosen.size && isOneChoice(filter) && (
        <Checkbox
          label={`All ${brief(total)} that match`}
          checked={isEveryone}
          onChange={({ currentTarget }) => setEveryone(currentTarget.checked)}
        />
      )}
      {mayWrite && (
        <>
          <Button size="xs" variant="default" onClick={() => setAsked('tag')}>
            Tag
          </Button>
          <Choice
            label="Move to stage"
            data={STAGES.map((value) => ({ value, label: words(value) }))}
            onChoose={async (value) => {
              const to = oneOf(STAGES, value);
              if (to) follow((await acts.stage.run({ contacts, stage: to }))?.bulk_stage.id);
            }}
          />
          <AssignChoice
            onChoose={async (assignee_id) => follow((await acts.assign.run({ contacts, assignee_id }))?.bulk_assign.id)}
          />
        </>
      )}
      {mayEnroll && (
        <Button size="xs" variant="default" onClick={() => setAsked('enroll')}>
          Enroll
        </Button>
      )}
      {mayDelete && (
        <Button size="xs" variant="default" onClick={() => setAsked('delete')}>
          Delete
        </Button>
      )}
      {refusal && <Refused refusal={refusal} />}
      <FormDialog isOpen={asked === 'tag'} onClose={close} title={`Tag ${people}`}>
        <TagForm people={people} contacts={contacts} onJob={onJob} />
      </FormDialog>
      <FormDialog isOpen={asked === 'enroll'} onClose={close} title={`Enroll ${people} in a sequence`}>
        <EnrollForm people={people} contacts={contacts} onJob={onJob} />
      </FormDialog>
      <Confirm
        title={`Delete ${people}?`}
        act={`Delete ${people}`}
        isOpen={asked === 'delete'}
        isBusy={acts.remove.isBusy}
        refusal={acts.remove.refusal}
        onClose={close}
        onConfirm={async () => follow((await acts.remove.run({ contacts }))?.bulk_delete.id)}
      >
        Their messages, conversations and enrollments are deleted too, and texts that have not left yet are refunded.
        People who opted out stay opted out. This cannot be undone.
      </Confirm>
    </div>
  );
}

/** Return a count as briefly as it is true: `10,000+` where more contacts match. */
export function brief({ total_count, total_is_exact }: Total): string {
  return `${count(total_count)}${total_is_exact ? '' : '+'}`;
}

function wordsOf(total?: Total): string {
  if (!total) return 'all contacts that match';
  return `${total.total_is_exact ? '' : 'more than '}${plural(total.total_count, 'contact')}`;
}

function AssignChoice({ onChoose }: { onChoose: (id: number | null) => void }) {
  const [{ data }] = useQuery({ query: ContactUsers, pause: !useMay('conversations:write') });
  if (!data) return null;
  const users = data.users.map((user) => ({ value: String(user.id), label: nameOf(user) }));
  return (
    <Choice
      label="Assign to"
      data={[...users, { value: NOBODY, label: 'Nobody' }]}
      onChoose={(value) => onChoose(value === NOBODY ? null : Number(value))}
    />
  );
}

interface ChoiceProps {
  label: string;
  data: { value: string; label: string }[];
  onChoose: (value: string) => void;
}

function Choice({ label, data, onChoose }: ChoiceProps) {
  return (
    <Select
      size="xs"
      w={150}
      aria-label={label}
      placeholder={label}
      value={null}
      data={data}
      onChange={(value) => value !== null && onChoose(value)}
    />
  );
}
