// The editor of a campaign: whom it reaches, what it says, what it costs, and the confirmation.

import { Button, Checkbox } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useMay } from '../../graphql/index.ts';
import { Card, Refused, Unsaved, useAct } from '../../ui/index.ts';
import { TextEditor } from '../templates/index.ts';
import { Audience, audienceOf, type Chosen } from './Audience.tsx';
import { UpdateCampaign } from './mutations.ts';
import { Preview } from './Preview.tsx';
import type { Campaign } from './queries.ts';

export function Editor({ campaign }: { campaign: Campaign }) {
  const act = useAct(UpdateCampaign);
  const [body, setBody] = useState(campaign.body);
  const [chosen, setChosen] = useState<Chosen>({
    tags: campaign.audience.tags,
    segmentId: campaign.audience.segment_id,
  });
  const [isSmart, setSmart] = useState(campaign.is_smart_encoded);
  const [isChanged, setChanged] = useState(false);
  const [shown, setShown] = useState(0);
  const mayWrite = useMay('campaigns:write');
  const { refusal } = act;
  const isOfText = refusal?.field === 'changes.body' || refusal?.field === 'body';
  const edit = <Value,>(set: (value: Value) => void) => {
    return (value: Value) => {
      act.forget();
      setChanged(true);
      setShown(0);
      set(value);
    };
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const changes = { body, audience: audienceOf(chosen), is_smart_encoded: isSmart };
    if (!(await act.run({ id: campaign.id, changes }))) return;
    setChanged(false);
    setShown(shown + 1);
  };
  return (
    <>
      <form onSubmit={(event) => void save(event)}>
        <Card title="Who gets it">
          <div style={{ display: 'grid', gap: 12 }}>
            <Audience chosen={chosen} onChange={edit(setChosen)} />
          </div>
        </Card>
        <Card title="The text">
          <div style={{ display: 'grid', gap: 12 }}>
            <TextEditor
              label="Text"
              body={body}
              isFirst
              isReadOnly={!mayWrite}
              error={isOfText ? refusal?.text : undefined}
              onChange={edit(setBody)}
            />
            <Checkbox
              label="Replace typographic characters where that saves parts"
              checked={isSmart}
              onChange={({ currentTarget }) => edit(setSmart)(currentTarget.checked)}
            />
            {refusal && !isOfText && <Refused refusal={refusal} />}
            {mayWrite && (
              <div>
                <Button
                  type="submit"
                  variant={shown ? 'default' : 'filled'}
                  loading={act.isBusy}
                  disabled={!body.trim()}
                >
                  Save and preview
                </Button>
              </div>
            )}
          </div>
        </Card>
      </form>
      {shown > 0 && <Preview key={shown} id={campaign.id} />}
      <Unsaved isChanged={isChanged && mayWrite} />
    </>
  );
}
