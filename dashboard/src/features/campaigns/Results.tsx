// What became of a campaign: its recipients by state, and by the reason of a failure.

import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../graphql/index.ts';
import { Card, Confirm, count, Notice, Table, Time, useAct, words } from '../../ui/index.ts';
import { recipientsOf } from './CampaignState.tsx';
import { CancelCampaign, PauseCampaign } from './mutations.ts';
import type { Campaign } from './queries.ts';

const RUNNING = ['sending', 'scheduled', 'paused'];

export function Results({ campaign }: { campaign: Campaign }) {
  const { counts, body, status, reason, sent_at } = campaign;
  const maySend = useMay('campaigns:send');
  return (
    <>
      {reason && <Notice kind="warn">{words(reason)}.</Notice>}
      {maySend && RUNNING.includes(status) && <Control campaign={campaign} />}
      <Card title={`${count(recipientsOf(campaign))} recipients`}>
        <Table
          label="Recipients by state"
          rows={counts}
          keyOf={(row) => `${row.state} ${row.reason}`}
          columns={[
            { title: 'State', cell: ({ state }) => words(state) },
            { title: 'Reason', cell: (row) => words(row.reason) },
            { title: 'People', isNumber: true, cell: ({ recipients }) => count(recipients) },
            { title: 'Parts', isNumber: true, cell: ({ segments }) => count(segments) },
            { title: 'Credits', isNumber: true, cell: ({ credits }) => count(credits) },
          ]}
        />
      </Card>
      <Card title="The text">
        <p style={{ whiteSpace: 'pre-wrap' }} dir="auto">
          {body}
        </p>
        {sent_at && (
          <p>
            Sent <Time at={sent_at} full />
          </p>
        )}
      </Card>
    </>
  );
}

function Control({ campaign: { id, name, status } }: { campaign: Campaign }) {
  const pause = useAct(PauseCampaign);
  const cancel = useAct(CancelCampaign);
  const [isAsked, setAsked] = useState(false);
  return (
    <Group mb="md">
      {status === 'sending' && (
        <Button variant="default" loading={pause.isBusy} onClick={() => void pause.run({ id })}>
          Pause
        </Button>
      )}
      <Button variant="default" onClick={() => setAsked(true)}>
        Cancel
      </Button>
      <Confirm
        title={`Cancel ${name}?`}
        act="Cancel the rest"
        isOpen={isAsked}
        isBusy={cancel.isBusy}
        refusal={cancel.refusal}
        onClose={() => setAsked(false)}
        onConfirm={async () => (await cancel.run({ id })) && setAsked(false)}
      >
        Texts that have left cannot be taken back. Nobody else gets the campaign, and it cannot go on.
      </Confirm>
    </Group>
  );
}
