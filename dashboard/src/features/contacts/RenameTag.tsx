// Another name for a tag, in all contacts that have it.

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { FormDialog, Refused, useAct } from '../../ui/index.ts';
import { RenameTag as Rename } from './mutations.ts';

interface RenameTagProps {
  tag: string;
  /** Called with the id of the job that renames it. */
  onJob: (id: number) => void;
}

export function RenameTag({ tag, onJob }: RenameTagProps) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState(tag);
  const act = useAct(Rename);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const made = await act.run({ tag, name });
    if (!made?.rename_tag) return;
    setOpen(false);
    onJob(made.rename_tag.id);
  };
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Rename tag
      </Button>
      <FormDialog isOpen={isOpen} onClose={() => setOpen(false)} title={`Rename the tag ${tag}`}>
        <form onSubmit={(event) => void submit(event)}>
          <TextInput
            label="New name"
            description="The name of another tag merges the two. Segments and automations keep the old name."
            required
            maxLength={64}
            data-autofocus
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {act.refusal && <Refused refusal={act.refusal} />}
          <Button type="submit" mt={16} loading={act.isBusy} disabled={name.trim() === '' || name.trim() === tag}>
            Rename
          </Button>
        </form>
      </FormDialog>
    </>
  );
}
