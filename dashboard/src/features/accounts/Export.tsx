// The export of all data of the account.

import { Button } from '@mantine/core';
import { Card, Refused, useAct } from '../../ui/index.ts';
import { ExportAccount } from './mutations.ts';

export function Export() {
  const act = useAct(ExportAccount);
  const download = async () => {
    const made = await act.run({});
    if (made) window.location.assign(made.create_export_link.url);
  };
  return (
    <Card title="Export">
      <p>
        All data of the account but its secrets, as a zip archive: one file for each kind of record, one line of JSON
        for each record. A large account takes some minutes.
      </p>
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button variant="default" loading={act.isBusy} onClick={() => void download()}>
        Download the export
      </Button>
    </Card>
  );
}
