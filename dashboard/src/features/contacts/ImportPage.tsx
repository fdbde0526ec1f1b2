// Importing contacts: a file, what its columns mean, a dry run, then the import.

import { FileInput, Progress } from '@mantine/core';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import type { Refusal } from '../../graphql/index.ts';
import { Card, Page, Refused } from '../../ui/index.ts';
import { EarlierImports } from './EarlierImports.tsx';
import { ImportForm } from './ImportForm.tsx';
import { Report } from './ImportReport.tsx';
import { Uploads } from './imports.ts';
import { upload } from './upload.ts';

/** The address holds the id of the uploaded file, and of the job that imports it. */
export function ImportPage() {
  const navigate = useNavigate();
  const { id: uploadId } = useParams({ strict: false }) as { id?: number };
  const { job } = useSearch({ strict: false });
  const [{ data }] = useQuery({ query: Uploads, requestPolicy: 'cache-and-network' });
  const name = data?.uploads.find(({ id }) => id === uploadId)?.name;
  const open = (id: number, search: { job?: number } = {}) =>
    void navigate({ to: '/contacts/import/$id', params: { id }, search });
  const close = () => {
    if (uploadId && name) open(uploadId);
    else void navigate({ to: '/contacts/import' });
  };
  return (
    <Page title="Import contacts">
      <Choice name={name} onUploaded={open} />
      {uploadId && !job && (
        <ImportForm key={uploadId} uploadId={uploadId} onJob={(id) => open(uploadId, { job: id })} />
      )}
      {job && (
        <>
          <Report key={job} id={job} title="Import" onClose={close} />
          <p>
            <Link to="/contacts">See the contacts</Link>
          </p>
        </>
      )}
      {(job || !uploadId) && <EarlierImports shown={job} />}
    </Page>
  );
}

function Choice({ name, onUploaded }: { name?: string; onUploaded: (id: number) => void }) {
  const client = useClient();
  const turn = useRef(0);
  const [file, setFile] = useState<File | null>(null);
  const [share, setShare] = useState<number>();
  const [refusal, setRefusal] = useState<Refusal>();
  useEffect(
    () => () => {
      turn.current = 0; // an upload ends with its page
    },
    [],
  );
  const choose = async (chosen: File | null) => {
    if (!chosen) return;
    turn.current += 1;
    const mine = turn.current;
    setFile(chosen);
    setRefusal(undefined);
    setShare(0);
    const done = await upload(client, chosen, (part) => {
      if (mine === turn.current) setShare(part);
      return mine === turn.current;
    });
    if (mine !== turn.current) return;
    setShare(undefined);
    if (typeof done === 'number') onUploaded(done);
    else {
      setRefusal(done);
      setFile(null); // so that the same file can be chosen again
    }
  };
  return (
    <Card title="1. The file">
      <FileInput
        label="A CSV file or vCards"
        description="At most 100 MiB. Excel workbooks are saved as CSV first."
        placeholder={name ?? 'Choose a file'}
        accept=".csv,.txt,.tsv,.vcf"
        value={file}
        onChange={(chosen) => void choose(chosen)}
      />
      {share !== undefined && <Progress mt="sm" value={share * 100} aria-label="Upload" />}
      {refusal && <Refused refusal={refusal} />}
    </Card>
  );
}
