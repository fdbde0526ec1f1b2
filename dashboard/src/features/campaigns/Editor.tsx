// The editor of a campaign: whom it reaches, what it says, what it costs, and the confirmation.

import { Button, Checkbox, MultiSelect, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Card, Cost, Refused, useAct } from '../../ui/index.ts';
import { UpdateCampaign } from './mutations.ts';
import { Preview } from './Preview.tsx';
import { type Campaign, CampaignTags } from './queries.ts';

export function Editor({ campaign }: { campaign: Campaign }) {
  const act = useAct(UpdateCampaign);
  const [{ data }] = useQuery({ query: CampaignTags });
  const [body, setBody] = useState(campaign.body);
  const [tags, setTags] = useState(campaign.audience.tags);
  const [isSmart, setSmart] = useState(campaign.is_smart_encoded);
  const [shown, setShown] = useState(0);
  const mayWrite = useMay('campaigns:write');
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const audience = { ...(tags.length > 0 ? { tags, everyone: false } : { everyone: true }) };
    if (await act.run({ id: campaign.id, changes: { body, audience, is_smart_encoded: isSmart } })) setShown(shown + 1);
  };
  return (
    <>
      <Card title="The text">
        <form style={{ display: 'grid', gap: 12 }} onSubmit={(event) => void save(event)} onChange={() => setShown(0)}>
          <MultiSelect
            label="Who gets it"
            placeholder={tags.length === 0 ? 'Every contact; or choose tags' : undefined}
            data={data?.tags.map(({ name }) => name) ?? tags}
            value={tags}
            onChange={(chosen) => {
              setTags(chosen);
              setShown(0);
            }}
            clearButtonProps={{ 'aria-label': 'Every contact' }}
          />
          <Textarea
            label="Text"
            description="{first_name|there} becomes the name, or there where it is not known."
            autosize
            minRows={4}
            value={body}
            onChange={({ currentTarget }) => setBody(currentTarget.value)}
          />
          <Cost text={body} />
          <Checkbox
            label="Replace typographic characters where that saves parts"
            checked={isSmart}
            onChange={({ currentTarget }) => setSmart(currentTarget.checked)}
          />
          {act.refusal && <Refused refusal={act.refusal} />}
          {mayWrite && (
            <div>
              <Button type="submit" variant={shown ? 'default' : 'filled'} loading={act.isBusy} disabled={!body.trim()}>
                Save and preview
              </Button>
            </div>
          )}
        </form>
      </Card>
      {shown > 0 && <Preview key={shown} id={campaign.id} />}
    </>
  );
}
