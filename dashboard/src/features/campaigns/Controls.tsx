// Actions on a campaign that was sent: pause, resume, cancel, take the schedule back.

import { Button, Group, NumberInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirm, ConfirmButton, count, Notice, plural, Refused, useAct } from '../../ui/index.ts';
import type { Progressed } from './model.ts';
import { CancelCampaign, PauseCampaign, ResumeCampaign, UnscheduleCampaign } from './mutations.ts';
import type { Campaign } from './queries.ts';
import { written } from './timing.ts';

interface ControlsProps {
  campaign: Campaign;
  progress: Progressed;
}

export function Controls({ campaign, progress }: ControlsProps) {
  const { id, status } = campaign;
  const pause = useAct(PauseCampaign);
  const [canceled, setCanceled] = useState<{ canceled: number; left: number; in_flight: number }>();
  const isUnderWay = status === 'sending' || status === 'paused';
  return (
    <>
      {pause.refusal && <Refused refusal={pause.refusal} />}
      {(isUnderWay || status === 'scheduled') && (
        <Group mb="md" gap={8}>
          {status === 'sending' && (
            <Button variant="default" loading={pause.isBusy} onClick={() => void pause.run({ id })}>
              Pause
            </Button>
          )}
          {status === 'paused' && <Resume campaign={campaign} progress={progress} />}
          {status === 'scheduled' && <Unschedule campaign={campaign} />}
          <Cancel campaign={campaign} progress={progress} onDone={setCanceled} />
        </Group>
      )}
      {canceled && (
        <div role="status">
          <Notice>
            {plural(canceled.canceled, 'person', 'people')} got no text; {plural(canceled.left, 'text')} had left
            {canceled.in_flight > 0 && `, and ${count(canceled.in_flight)} were just leaving`}.
          </Notice>
        </div>
      )}
    </>
  );
}

function Unschedule({ campaign: { id, local_at, scheduled_at } }: { campaign: Campaign }) {
  const act = useAct(UnscheduleCampaign);
  const navigate = useNavigate();
  const run = async () => {
    if (!(await act.run({ id }))) return;
    const time = local_at ?? (scheduled_at && written(new Date(scheduled_at)));
    const search = {
      step: 'when' as const,
      when: local_at ? ('local' as const) : ('at' as const),
      at: time ?? undefined,
    };
    await navigate({ to: '/campaigns/$id', params: { id }, search, replace: true });
  };
  return (
    <>
      <Button variant="default" loading={act.isBusy} onClick={() => void run()}>
        Unschedule and edit
      </Button>
      {act.refusal && <Refused refusal={act.refusal} />}
    </>
  );
}

function Cancel({
  campaign: { id, name, status },
  progress: { people, states },
  onDone,
}: ControlsProps & { onDone: (result: { canceled: number; left: number; in_flight: number }) => void }) {
  const act = useAct(CancelCampaign);
  const waiting = states.queued + states.deferred + states.claimed;
  const left = states.delivered + states.sent + states.failed;
  const run = async () => {
    const done = await act.run({ id });
    if (done) onDone(done.cancel_campaign);
    return done;
  };
  return (
    <ConfirmButton
      label="Cancel the campaign"
      title={`Cancel ${name}?`}
      act={status === 'scheduled' ? `Cancel ${name}` : `Cancel ${plural(waiting, 'text')}`}
      state={act}
      run={run}
    >
      {status === 'scheduled' ? (
        <p>Nobody gets it. A canceled campaign cannot be sent; a duplicate of it can.</p>
      ) : (
        <p>
          {plural(waiting, 'text')} of {count(people)} {waiting === 1 ? 'has' : 'have'} not left: these people get none,
          and the credits come back. {plural(left, 'text')} {left === 1 ? 'has' : 'have'} left and cannot be taken back.
          It cannot go on after that.
        </p>
      )}
    </ConfirmButton>
  );
}

function Resume({ campaign: { id, name, reason, max_credits }, progress }: ControlsProps) {
  const act = useAct(ResumeCampaign);
  const [isAsked, setAsked] = useState(false);
  const isOver = reason === 'over_max_credits';
  const isOrphaned = reason === 'credential_ended';
  const [limit, setLimit] = useState(progress.credits);
  const run = async () => {
    const done = await act.run({ id, max_credits: isOver ? limit : null, consent_attested: isOrphaned || null });
    if (done) setAsked(false);
  };
  return (
    <>
      <Button loading={act.isBusy && !isAsked} onClick={() => (isOver || isOrphaned ? setAsked(true) : void run())}>
        Resume
      </Button>
      {act.refusal && !isAsked && <Refused refusal={act.refusal} />}
      <Confirm
        title={`Resume ${name}?`}
        act={isOver ? `Send for at most ${plural(limit, 'credit')}` : 'Resume as its sender'}
        isDangerous={false}
        isOpen={isAsked}
        isBusy={act.isBusy}
        refusal={act.refusal}
        onClose={() => setAsked(false)}
        onConfirm={() => void run()}
      >
        {isOver ? (
          <NumberInput
            label="At most, in credits"
            description={`Its texts cost ${plural(progress.credits, 'credit')}; ${count(max_credits ?? 0)} were allowed.`}
            min={1}
            allowDecimal={false}
            thousandSeparator=","
            value={limit}
            onChange={(value) => setLimit(Number(value))}
          />
        ) : (
          <p>You become its sender, and confirm that these people agreed to be texted by you.</p>
        )}
      </Confirm>
    </>
  );
}
