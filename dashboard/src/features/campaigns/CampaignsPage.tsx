// The campaigns of the account, the newest first.

import { Button, Modal, TextInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useMay, usePages } from '../../graphql/index.ts';
import { Empty, Failure, Icon, Page, plural, Refused, Skeleton, Table, Time, useAct } from '../../ui/index.ts';
import { CampaignState, recipientsOf } from './CampaignState.tsx';
import { CreateCampaign } from './mutations.ts';
import { campaignsListing } from './queries.ts';

export function CampaignsPage() {
  const pages = usePages(campaignsListing, {});
  const [isAdding, setAdding] = useState(false);
  const mayWrite = useMay('campaigns:write');
  const add = mayWrite && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      New campaign
    </Button>
  );
  return (
    <Page title="Campaigns" actions={pages.rows.length > 0 && add}>
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {pages.rows.length === 0 && !pages.isLoading && (
        <Empty action={add}>A campaign sends one text to many people, with their names in it.</Empty>
      )}
      {pages.rows.length > 0 && (
        <Table
          label="Campaigns"
          rows={pages.rows}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Name',
              cell: ({ id, name }) => (
                <Link to="/campaigns/$id" params={{ id }}>
                  {name}
                </Link>
              ),
            },
            { title: 'State', cell: (row) => <CampaignState status={row.status} /> },
            {
              title: 'Recipients',
              cell: (row) => (row.counts.length > 0 ? plural(recipientsOf(row), 'person', 'people') : '–'),
            },
            { title: 'Sent', cell: ({ sent_at }) => (sent_at ? <Time at={sent_at} full /> : '–') },
            { title: 'Made', cell: ({ created_at }) => <Time at={created_at} full /> },
          ]}
        />
      )}
      <Modal opened={isAdding} onClose={() => setAdding(false)} title="New campaign">
        <NewCampaign />
      </Modal>
    </Page>
  );
}

function NewCampaign() {
  const navigate = useNavigate();
  const act = useAct(CreateCampaign);
  const [name, setName] = useState('');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = 'Hi {first_name|there}, ';
    const made = await act.run({
      campaign: { name, body, is_smart_encoded: true, is_strict: false, audience: { everyone: true } },
    });
    if (made) await navigate({ to: '/campaigns/$id', params: { id: made.create_campaign.id } });
  };
  return (
    <form style={{ display: 'grid', gap: 12 }} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Name"
        description="Only you see it."
        required
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        data-autofocus
      />
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" loading={act.isBusy} disabled={!name.trim()}>
        Write the text
      </Button>
    </form>
  );
}
