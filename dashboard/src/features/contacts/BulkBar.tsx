// What is done with the chosen contacts, or with all that match the filter.

import { Button, Checkbox, Modal, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../graphql/index.ts';
import { Confirm, plural, Refused, useAct, words } from '../../ui/index.ts';
import styles from './contacts.module.css';
import { JobProgress } from './JobProgress.tsx';
import { BulkDelete, BulkStage, BulkTag } from './mutations.ts';
import { type ContactsSearch, oneOf, STAGES } from './search.ts';

interface BulkBarProps {
  chosen: ReadonlySet<number>;
  filter: ContactsSearch;
  total?: number;
  onDone: () => void;
}

export function BulkBar({ chosen, filter, total, onDone }: BulkBarProps) {
  const [isEveryone, setEveryone] = useState(false);
  const [asked, setAsked] = useState<'tag' | 'delete'>();
  const [tag, setTag] = useState('');
  const [jobId, setJobId] = useState<number>();
  const acts = { tag: useAct(BulkTag), stage: useAct(BulkStage), remove: useAct(BulkDelete) };
  const mayDelete = useMay('contacts:delete');
  const { stage, status, search, tag: filteredTag } = filter;
  const contacts = isEveryone ? { filter: { stage, status, search, tag: filteredTag } } : { ids: [...chosen] };
  const people = plural(isEveryone ? (total ?? 0) : chosen.size, 'contact');
  const refusal = acts.tag.refusal ?? acts.stage.refusal;
  const follow = (id?: number) => {
    if (id) setJobId(id);
    if (id) setAsked(undefined);
  };
  if (jobId) return <JobProgress id={jobId} onClose={onDone} />;
  return (
    <div className={styles.chosen}>
      <strong>{plural(chosen.size, 'contact')} chosen</strong>
      {total !== undefined && total > chosen.size && (
        <Checkbox
          label={`All ${total} that match`}
          checked={isEveryone}
          onChange={({ currentTarget }) => setEveryone(currentTarget.checked)}
        />
      )}
      <Button size="xs" variant="default" onClick={() => setAsked('tag')}>
        Tag
      </Button>
      <Select
        size="xs"
        w={150}
        aria-label="Move to stage"
        placeholder="Move to stage"
        value={null}
        data={STAGES.map((value) => ({ value, label: words(value) }))}
        onChange={async (value) => {
          const to = oneOf(STAGES, value);
          if (to) follow((await acts.stage.run({ contacts, stage: to }))?.bulk_stage.id);
        }}
      />
      {mayDelete && (
        <Button size="xs" variant="default" onClick={() => setAsked('delete')}>
          Delete
        </Button>
      )}
      {refusal && <Refused refusal={refusal} />}
      <Modal opened={asked === 'tag'} onClose={() => setAsked(undefined)} title={`Tag ${people}`}>
        <form
          className={styles.form}
          onSubmit={async (event) => {
            event.preventDefault();
            follow((await acts.tag.run({ contacts, add: [tag] }))?.bulk_tag.id);
          }}
        >
          <TextInput
            label="Tag"
            value={tag}
            onChange={({ currentTarget }) => setTag(currentTarget.value)}
            data-autofocus
          />
          <Button type="submit" disabled={!tag.trim()} loading={acts.tag.isBusy}>{`Tag ${people}`}</Button>
        </form>
      </Modal>
      <Confirm
        title={`Delete ${people}?`}
        act={`Delete ${people}`}
        isOpen={asked === 'delete'}
        isBusy={acts.remove.isBusy}
        refusal={acts.remove.refusal}
        onClose={() => setAsked(undefined)}
        onConfirm={async () => follow((await acts.remove.run({ contacts }))?.bulk_delete.id)}
      >
        Their messages, conversations and enrollments are deleted too, and texts that have not left yet are refunded.
        Who has opted out stays opted out. This cannot be undone.
      </Confirm>
    </div>
  );
}
