// The meaning of the columns, the dry run, and the import.

import { Button, Group, Select, TagsInput, Textarea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useQuery } from 'urql';
import type { ResultOf } from '../../graphql/index.ts';
import { Card, Failure, Refused, Skeleton, Table, useAct, words } from '../../ui/index.ts';
import styles from './contacts.module.css';
import { JobProgress } from './JobProgress.tsx';
import { Import } from './mutations.ts';
import { ImportPreview } from './queries.ts';

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

export function ImportForm({ uploadId }: { uploadId: number }) {
  const [{ data, error }] = useQuery({ query: ImportPreview, variables: { upload_id: uploadId } });
  const preview = data?.preview_import;
  if (error && !data) return <Failure error={error} />;
  return preview ? <Mapped uploadId={uploadId} preview={preview} /> : <Skeleton />;
}

function Mapped({ uploadId, preview }: { uploadId: number; preview: Preview }) {
  const act = useAct(Import);
  const [fields, setFields] = useState(() => preview.columns.map(({ field }) => field));
  const [existing, setExisting] = useState<'update' | 'keep' | 'skip'>('update');
  const [tags, setTags] = useState<string[]>([]);
  const [consent, setConsent] = useState('');
  const [jobs, setJobs] = useState<{ trial?: number; real?: number }>({});
  const [isTried, setTried] = useState(false);
  const run = async (dry_run: boolean) => {
    const columns = fields.flatMap((field, column) => (field ? [{ column, field }] : []));
    const format = preview.columns.length > 0 ? { has_header: preview.has_header, columns } : null;
    const made = await act.run({ upload_id: uploadId, format, existing, tags, consent, dry_run });
    if (made) setJobs(dry_run ? { trial: made.import_contacts.id } : { ...jobs, real: made.import_contacts.id });
  };
  return (
    <>
      <Card title="2. The columns">
        {preview.note && <p>{preview.note}</p>}
        <Columns preview={preview} fields={fields} onChange={setFields} />
        <div className={styles.form} style={{ marginTop: 16, maxWidth: 520 }}>
          <Select
            label="Contacts that exist"
            allowDeselect={false}
            data={EXISTING}
            value={existing}
            onChange={(value) => setExisting(value === 'keep' || value === 'skip' ? value : 'update')}
          />
          <TagsInput label="Tags for everyone in the file" value={tags} onChange={setTags} />
          <Textarea
            label="Wording of their consent to texts"
            description="Recorded as evidence for each phone; empty if you have none."
            value={consent}
            onChange={({ currentTarget }) => setConsent(currentTarget.value)}
          />
        </div>
        {act.refusal && <Refused refusal={act.refusal} />}
        <Group mt="md">
          <Button loading={act.isBusy} variant={isTried ? 'default' : 'filled'} onClick={() => void run(true)}>
            Try it without changing anything
          </Button>
          {isTried && !jobs.real && (
            <Button loading={act.isBusy} onClick={() => void run(false)}>
              Import the contacts
            </Button>
          )}
        </Group>
      </Card>
      {jobs.trial && <Report key={jobs.trial} id={jobs.trial} title="Dry run" onEnd={() => setTried(true)} />}
      {jobs.real && <Report id={jobs.real} title="Import" />}
      {jobs.real && <Link to="/contacts">See the contacts</Link>}
    </>
  );
}

/** The report stands below the form: once it is complete it is scrolled into view. */
function Report({ id, title, onEnd }: { id: number; title: string; onEnd?: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  const end = () => {
    box.current?.scrollIntoView({ block: 'nearest' });
    onEnd?.();
  };
  return (
    <div ref={box}>
      <JobProgress id={id} title={title} onEnd={end} />
    </div>
  );
}

interface ColumnsProps {
  preview: Preview;
  fields: string[];
  onChange: (fields: string[]) => void;
}

function Columns({ preview, fields, onChange }: ColumnsProps) {
  const known = [...new Set([...FIELDS, ...preview.columns.map(({ field }) => field)])].filter(Boolean);
  const choices = [SKIPPED, ...known.map((value) => ({ value, label: words(value.replace('custom.', '')) }))];
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
