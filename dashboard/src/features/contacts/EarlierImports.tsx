// The imports that run or have ended, and the uploaded files, which wait to be imported or deleted.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { type ResultOf, useRefresh, useUpdates } from '../../graphql/index.ts';
import { Card, ConfirmButton, count, Failure, Table, Time, useAct, words } from '../../ui/index.ts';
import { useNames } from '../conversations/index.ts';
import { forgetChoices } from './importing.ts';
import { DeleteUpload } from './mutations.ts';
import { Jobs, Uploads } from './imports.ts';

type Job = ResultOf<typeof Jobs>['jobs']['nodes'][number];
type Upload = ResultOf<typeof Uploads>['uploads'][number];

export function EarlierImports({ shown }: { shown?: number }) {
  const [{ data, error, fetching, stale }, again] = useQuery({ query: Jobs, requestPolicy: 'cache-and-network' });
  const [files, askFiles] = useQuery({ query: Uploads, requestPolicy: 'cache-and-network' });
  const refresh = useRefresh({ fetching, stale }, again);
  const refreshFiles = useRefresh(files, askFiles);
  useUpdates((update) => {
    if (update !== 'missed' && update.__typename !== 'JobProgressUpdate') return;
    refresh();
    refreshFiles();
  });
  const jobs = data?.jobs.nodes.filter(({ id, kind }) => kind === 'import_contacts' && id !== shown) ?? [];
  const uploads = files.data?.uploads ?? [];
  if (!(data || error) || !(files.data || files.error)) return null; // one after the other, they would move
  return (
    <>
      {error && !data && <Failure error={error} retry={() => again({ requestPolicy: 'network-only' })} />}
      {jobs.length > 0 && (
        <Card title="Earlier imports">
          <JobTable jobs={jobs} />
        </Card>
      )}
      {uploads.length > 0 && (
        <Card title="Files that are not imported">
          <p>A file is deleted when it was imported, and after 7 days. An account has at most 5.</p>
          <UploadTable uploads={uploads} onDeleted={() => askFiles({ requestPolicy: 'network-only' })} />
        </Card>
      )}
    </>
  );
}

function JobTable({ jobs }: { jobs: Job[] }) {
  const names = useNames();
  return (
    <Table
      label="Imports and dry runs"
      rows={jobs}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Begun', cell: ({ created_at }) => <Time at={created_at} full /> },
        { title: 'By', cell: ({ creator }) => names(creator) },
        { title: 'State', cell: ({ status }) => words(status) },
        {
          title: 'Rows',
          isNumber: true,
          cell: ({ done, total }) => `${count(done)} of ${total === null ? '…' : count(total)}`,
        },
        { title: 'Changes', isNumber: true, cell: ({ changed }) => count(changed) },
        {
          title: 'Report',
          cell: ({ id }) => (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Show import ${id}`}
              renderRoot={(props) => <Link to="/contacts/import" search={{ job: id }} {...props} />}
            >
              Show
            </Button>
          ),
        },
      ]}
    />
  );
}

function UploadTable({ uploads, onDeleted }: { uploads: Upload[]; onDeleted: () => void }) {
  const remove = useAct(DeleteUpload);
  return (
    <Table
      label="Uploaded files"
      rows={uploads}
      keyOf={({ id }) => id}
      columns={[
        { title: 'File', cell: ({ name }) => name },
        { title: 'Uploaded', cell: ({ created_at }) => <Time at={created_at} full /> },
        {
          title: 'Action',
          cell: ({ id, name }) => (
            <ConfirmButton
              label="Delete"
              name={`Delete ${name}`}
              size="compact-sm"
              title={`Delete ${name}?`}
              act={`Delete ${name}`}
              state={remove}
              run={() => remove.run({ id })}
              onDone={() => {
                forgetChoices(id);
                onDeleted();
              }}
            >
              An import of it that runs cannot go on. Contacts that were imported stay.
            </ConfirmButton>
          ),
        },
      ]}
    />
  );
}
