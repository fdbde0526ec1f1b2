// The meaning of the columns, the dry run, and the import.

import { Button, Group, Select, TagsInput, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import type { ResultOf } from '../../graphql/index.ts';
import { Card, Failure, Refused, Skeleton, Table, useAct, words } from '../../ui/index.ts';
import styles from './contacts.module.css';
import { forgetChoices, useChoices } from './importing.ts';
import { Report } from './ImportReport.tsx';
import { Import } from './mutations.ts';
import { ImportPreview } from './imports.ts';
import { ContactFields } from './queries.ts';

type Preview = NonNullable<ResultOf<typeof ImportPreview>['preview_import']>;

const FIELDS = [
  'phone',
  'first_name',
  'last_name',
  'name',
  'email',
  'tags',
  'pipeline_stage',
  'source',
  'status',
  'dnd_sms',
];
const SKIPPED = { value: '', label: 'Leave out' };
const EXISTING = [
  { value: 'update', label: 'Take the values of the file' },
  { value: 'keep', label: 'Fill in missing values' },
  { value: 'skip', label: 'Leave them as they are' },
];

interface ImportFormProps {
  uploadId: number;
  /** Called with the id of the job that imports the file. */
  onJob: (id: number) => void;
}

export function ImportForm({ uploadId, onJob }: ImportFormProps) {
  const [{ data, error }, again] = useQuery({ query: ImportPreview, variables: { upload_id: uploadId } });
  const preview = data?.preview_import;
  if (error && !data?.preview_import)
    return <Failure error={error} retry={() => again({ requestPolicy: 'network-only' })} />;
  return preview ? <Mapped uploadId={uploadId} onJob={onJob} preview={preview} /> : <Skeleton />;
}

function Mapped({ uploadId, onJob, preview }: ImportFormProps & { preview: Preview }) {
  const act = useAct(Import);
  const [{ fields, existing, tags, consent, trial }, change] = useChoices(
    uploadId,
    preview.columns.map(({ field }) => field),
  );
  const [tried, setTried] = useState<number>();
  const isTried = trial !== undefined && tried === trial;
  const run = async (dry_run: boolean) => {
    const columns = fields.flatMap((field, column) => (field ? [{ column, field }] : []));
    const format = preview.columns.length > 0 ? { has_header: preview.has_header, columns } : null;
    const made = await act.run({ upload_id: uploadId, format, existing, tags, consent, dry_run });
    if (!made) return;
    const { id } = made.import_contacts;
    if (dry_run) return change({ trial: id });
    forgetChoices(uploadId);
    onJob(id);
  };
  return (
    <>
      <Card title="2. The columns">
        {preview.note && <p>{preview.note}</p>}
        <Columns preview={preview} fields={fields} onChange={(next) => change({ fields: next })} />
        <div className={styles.form} style={{ marginTop: 16, maxWidth: 520 }}>
          <Select
            label="Contacts that exist"
            allowDeselect={false}
            data={EXISTING}
            value={existing}
            onChange={(value) => change({ existing: value === 'keep' || value === 'skip' ? value : 'update' })}
          />
          <TagsInput label="Tags for everyone in the file" value={tags} onChange={(next) => change({ tags: next })} />
          <Textarea
            label="Wording of their consent to texts"
            description="Recorded as evidence for each phone; empty if you have none."
            value={consent}
            onChange={({ currentTarget }) => change({ consent: currentTarget.value })}
          />
        </div>
        {act.refusal && <Refused refusal={act.refusal} />}
        <Group mt="md">
          <Button loading={act.isBusy} variant={isTried ? 'default' : 'filled'} onClick={() => void run(true)}>
            Try it without changing anything
          </Button>
          {isTried && (
            <Button loading={act.isBusy} onClick={() => void run(false)}>
              Import the contacts
            </Button>
          )}
        </Group>
      </Card>
      {trial && <Report key={trial} id={trial} title="Dry run" onEnd={() => setTried(trial)} />}
    </>
  );
}

interface ColumnsProps {
  preview: Preview;
  fields: string[];
  onChange: (fields: string[]) => void;
}

function Columns({ preview, fields, onChange }: ColumnsProps) {
  const [{ data }] = useQuery({ query: ContactFields });
  const custom = new Map(data?.custom_fields.map(({ key, label }) => [`custom.${key}`, label]));
  const proposed = preview.columns.map(({ field }) => field);
  const known = [...new Set([...FIELDS, ...custom.keys(), ...proposed, ...fields])].filter(Boolean);
  const labelOf = (value: string) => custom.get(value) ?? words(value.replace('custom.', ''));
  const choices = [SKIPPED, ...known.map((value) => ({ value, label: labelOf(value) }))];
  return (
    <Table
      label="Columns of the file"
      rows={preview.columns}
      keyOf={({ index }) => index}
      columns={[
        { title: 'Column', cell: ({ name, index }) => name || `Column ${index + 1}` },
        { title: 'First values', cell: ({ samples }) => samples.join(' · ') },
        {
          title: 'Becomes',
          cell: ({ index, name }) => (
            <Select
              size="xs"
              allowDeselect={false}
              aria-label={`Meaning of ${name || `column ${index + 1}`}`}
              data={choices}
              value={fields[index] ?? ''}
              onChange={(value) => onChange(fields.map((field, at) => (at === index ? (value ?? '') : field)))}
            />
          ),
        },
      ]}
    />
  );
}
