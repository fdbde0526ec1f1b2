// Importing contacts: a file, what its columns mean, a dry run, then the import.

import { FileInput, Progress } from '@mantine/core';
import { useRef, useState } from 'react';
import { useClient } from 'urql';
import type { Refusal } from '../../graphql/index.ts';
import { Card, Page, Refused } from '../../ui/index.ts';
import { ImportForm } from './ImportForm.tsx';
import { upload } from './upload.ts';

export function ImportPage() {
  const client = useClient();
  const turn = useRef(0);
  const [file, setFile] = useState<File | null>(null);
  const [share, setShare] = useState<number>();
  const [refusal, setRefusal] = useState<Refusal>();
  const [uploadId, setUploadId] = useState<number>();
  const choose = async (chosen: File | null) => {
    if (!chosen) return;
    turn.current += 1;
    const mine = turn.current;
    setFile(chosen);
    setRefusal(undefined);
    setUploadId(undefined);
    setShare(0);
    const done = await upload(client, chosen, (part) => {
      if (mine === turn.current) setShare(part);
      return mine === turn.current;
    });
    if (mine !== turn.current) return;
    setShare(undefined);
    if (typeof done === 'number') setUploadId(done);
    else {
      setRefusal(done);
      setFile(null); // so that the same file can be chosen again
    }
  };
  return (
    <Page title="Import contacts">
      <Card title="1. The file">
        <FileInput
          label="A CSV file or vCards"
          description="At most 100 MiB. Excel workbooks are saved as CSV first."
          placeholder="Choose a file"
          accept=".csv,.txt,.tsv,.vcf"
          value={file}
          onChange={(chosen) => void choose(chosen)}
        />
        {share !== undefined && <Progress mt="sm" value={share * 100} aria-label="Upload" />}
        {refusal && <Refused refusal={refusal} />}
      </Card>
      {uploadId && <ImportForm key={uploadId} uploadId={uploadId} />}
    </Page>
  );
}
