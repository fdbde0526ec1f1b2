// The field for an internal note, which is never sent.

import { Button, Textarea } from '@mantine/core';
import type { FormEvent } from 'react';
import { changed } from '../../graphql/index.ts';
import { Refused, useOnce } from '../../ui/index.ts';
import { useDraft } from './drafts.ts';
import styles from './inbox.module.css';
import { AddNote } from './mutations.ts';

export function NoteField({ id }: { id: number }) {
  const { text: body, keep } = useDraft(id, 'note');
  const act = useOnce(AddNote);
  const isEmpty = body.trim() === '';
  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    if (act.isBusy || isEmpty || !(await act.run({ conversation_id: id, body }))) return;
    keep((latest) => (latest === body ? '' : latest));
    changed();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Textarea
        aria-label="Internal note"
        placeholder="A note for your colleagues: it is never sent."
        autosize
        minRows={2}
        maxRows={8}
        maxLength={4000}
        autoFocus
        value={body}
        onChange={({ currentTarget }) => keep(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void submit();
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      {act.refusal && <Refused refusal={act.refusal} />}
      <div className={styles.foot}>
        <span className={styles.soft}>Only your colleagues see it.</span>
        <Button type="submit" disabled={isEmpty} loading={act.isBusy}>
          Add the note
        </Button>
      </div>
    </form>
  );
}
