// Importing contacts: a file, what its columns mean, a dry run, then the import.

import { FileInput, Progress } from '@mantine/core';
import { useState } from 'react';
import { useClient } from 'urql';
import type { Refusal } from '../../graphql/index.ts';
import { Card, Page, Refused } from '../../ui/index.ts';
import { ImportForm } from './ImportForm.tsx';
import { upload } from './upload.ts';

export function ImportPage() {
  const client = useClient();
  const [share, setShare] = useState<number>();
  const [refusal, setRefusal] = useState<Refusal>();
  const [uploadId, setUploadId] = useState<number>();
  const choose = async (file: File | null) => {
    if (!file) return;
    setRefusal(undefined);
    setUploadId(undefined);
    setShare(0);
    const done = await upload(client, file, setShare);
    setShare(undefined);
    if (typeof done === 'number') setUploadId(done);
    else setRefusal(done);
  };
  return (
    <Page title="Import contacts">
      <Card title="1. The file">
        <FileInput
          label="A CSV file or vCards"
          description="At most 100 MiB. Excel workbooks are saved as CSV first."
          placeholder="Choose a file"
          accept=".csv,.txt,.tsv,.vcf"
          onChange={(file) => void choose(file)}
        />
        {share !== undefined && <Progress mt="sm" value={share * 100} aria-label="Upload" />}
        {refusal && <Refused refusal={refusal} />}
      </Card>
      {uploadId && <ImportForm key={uploadId} uploadId={uploadId} />}
    </Page>
  );
}
