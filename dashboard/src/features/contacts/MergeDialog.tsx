// The merge of two contacts that are one person: what remains and what is lost is shown first.

import { Button, Group, Modal } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { changed, type ResultOf } from '../../graphql/index.ts';
import { Failure, Notice, plural, Refused, Skeleton, Table, useAct, words } from '../../ui/index.ts';
import { ContactPicker, type PickedContact } from './ContactPicker.tsx';
import { MergeContacts } from './mutations.ts';
import { ContactMerge } from './duplicates.ts';

interface MergeDialogProps {
  into: PickedContact;
  /** The contact that is merged, where it is known already. */
  from?: PickedContact;
  isOpen: boolean;
  onClose: () => void;
}

export function MergeDialog({ into, from, isOpen, onClose }: MergeDialogProps) {
  const [other, setOther] = useState(from);
  return (
    <Modal opened={isOpen} onClose={onClose} title={`Merge into ${into.label}`} size="lg">
      {!from && <ContactPicker label="The contact that is the same person" value={other} onChange={setOther} />}
      {other && other.id !== into.id && <Preview key={other.id} into={into} from={other} onClose={onClose} />}
      {other?.id === into.id && <p>Choose another contact: this is the one that remains.</p>}
    </Modal>
  );
}

type Preview = NonNullable<ResultOf<typeof ContactMerge>['preview_merge']>;

function Preview({ into, from, onClose }: { into: PickedContact; from: PickedContact; onClose: () => void }) {
  const [take, setTake] = useState<string[]>([]);
  const [{ data, error }, again] = useQuery({
    query: ContactMerge,
    variables: { into_id: into.id, from_id: from.id, take },
    requestPolicy: 'network-only',
  });
  const merge = useAct(MergeContacts);
  const preview = data?.preview_merge;
  if (error) return <Failure error={error} retry={() => again()} />;
  if (!preview) return <Skeleton rows={4} />;
  const confirm = async () => {
    const variables = { into_id: into.id, from_id: from.id, preview_id: preview.preview_id, take };
    if (!(await merge.run(variables))) return;
    changed();
    onClose();
  };
  const swap = (name: string) => setTake(take.includes(name) ? take.filter((each) => each !== name) : [...take, name]);
  return (
    <>
      <Fields preview={preview} onSwap={swap} />
      <p>
        {plural(preview.messages, 'message')} of {from.label} move to {into.label}, and {from.label} is deleted. This
        cannot be undone.
      </p>
      {preview.consequences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {preview.problems.map((problem) => (
        <Notice key={problem} kind="bad">
          <span>{problem}</span>
        </Notice>
      ))}
      {merge.refusal && <Refused refusal={merge.refusal} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose}>
          Keep both
        </Button>
        <Button
          color="#b42318"
          loading={merge.isBusy}
          disabled={preview.problems.length > 0}
          onClick={() => void confirm()}
        >
          {`Merge, and delete ${from.label}`}
        </Button>
      </Group>
    </>
  );
}

function Fields({ preview, onSwap }: { preview: Preview; onSwap: (name: string) => void }) {
  const rows = preview.fields.filter(({ value, discarded }) => value || discarded);
  return (
    <Table
      label="Fields after the merge"
      rows={rows}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Field', cell: ({ name }) => words(name) },
        { title: 'Remains', cell: ({ value }) => value ?? '–' },
        { title: 'Is lost', cell: ({ discarded }) => discarded ?? '–' },
        {
          title: 'Choice',
          cell: ({ name, discarded }) =>
            discarded && name !== 'phone' && name !== 'tags' ? (
              <Button
                size="compact-xs"
                variant="default"
                aria-label={`Take the other ${words(name).toLowerCase()}`}
                onClick={() => onSwap(name)}
              >
                Take the other
              </Button>
            ) : null,
        },
      ]}
    />
  );
}
