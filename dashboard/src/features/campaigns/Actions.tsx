// Actions on a campaign in any state: duplicate it, delete it.

import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMay } from '../../graphql/index.ts';
import { ConfirmButton, onceOf, plural, Refused, useAct, useOnce } from '../../ui/index.ts';
import { fieldsOf } from './draft.ts';
import { progressOf } from './model.ts';
import { CreateCampaign, DeleteCampaign } from './mutations.ts';
import type { Campaign } from './queries.ts';

const LONGEST_NAME = 100;

export function Actions({ campaign }: { campaign: Campaign }) {
  const navigate = useNavigate();
  const copy = useOnce(CreateCampaign);
  const { status } = campaign;
  const duplicate = async () => {
    const fields = fieldsOf(campaign);
    const name = `${fields.name.slice(0, LONGEST_NAME - 7)} (copy)`;
    const made = await copy.run({ campaign: { ...fields, name, max_credits: null } });
    if (made) await navigate({ to: '/campaigns/$id', params: { id: made.create_campaign.id }, search: {} });
  };
  if (!useMay('campaigns:write')) return null;
  return (
    <>
      {copy.refusal && <Refused refusal={copy.refusal} />}
      <Button variant="default" loading={copy.isBusy} onClick={onceOf(() => void duplicate())}>
        Duplicate
      </Button>
      {status !== 'sending' && status !== 'paused' && <Remove campaign={campaign} />}
    </>
  );
}

function Remove({ campaign: { id, name, status, counts } }: { campaign: Campaign }) {
  const navigate = useNavigate();
  const act = useAct(DeleteCampaign);
  const { audience } = progressOf(counts);
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete ${name}?`}
      act={`Delete ${name}`}
      state={act}
      run={() => act.run({ id })}
      onDone={() => void navigate({ to: '/campaigns', search: {}, ignoreBlocker: true })}
    >
      {status === 'draft' && <p>Its text and its audience are deleted. Nothing was sent.</p>}
      {status === 'scheduled' && <p>It is deleted with its schedule: nobody gets it.</p>}
      {status !== 'draft' && status !== 'scheduled' && (
        <p>
          Its results go, with those of {plural(audience, 'person', 'people')}. The texts stay in the conversations.
        </p>
      )}
    </ConfirmButton>
  );
}
