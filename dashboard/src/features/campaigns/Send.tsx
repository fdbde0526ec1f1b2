// The confirmation of a campaign: it states people and credits, and shows the difference if these have changed.

import { Button, NumberInput } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../graphql/index.ts';
import { Card, Confirm, Notice, plural, useAct } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { Held } from './Leaving.tsx';
import { SendCampaign } from './mutations.ts';
import { inWords, isPast, startOf, type Timing } from './timing.ts';
import type { Preview, Previewed } from './usePreview.ts';

interface SendProps {
  id: number;
  timing: Timing;
  preview: Preview;
  isChanged: boolean;
}

export function Send({ id, timing, preview, isChanged }: SendProps) {
  const { shown, isStale, renew } = preview;
  const act = useAct(SendCampaign);
  const [seen, setSeen] = useState<Previewed>();
  const [limit, setLimit] = useState<number>();
  const start = startOf(timing);
  if (!useMay('campaigns:send') || !shown) return null;
  const { preview_id, recipients, credits } = shown;
  const most = timing.when === 'now' ? credits : Math.max(limit ?? credits, credits);
  const label = `${timing.when === 'now' ? 'Send' : 'Schedule'} to ${plural(recipients, 'person', 'people')} for at most ${plural(most, 'credit')}`;
  const send = async () => {
    const sent = await act.run({ id, preview_id, max_credits: most, at: start?.at, local_at: start?.local_at });
    if (!sent) renew();
  };
  return (
    <Card title={timing.when === 'now' ? 'Send it' : 'Schedule it'}>
      <div className={styles.form}>
        {timing.when !== 'now' && timing.at && (
          <p>
            {inWords(timing.at)}, {timing.when === 'at' ? 'your time' : 'on the clock of each person'}.
          </p>
        )}
        {timing.when !== 'now' && (
          <NumberInput
            label="At most, in credits"
            description="People who join the audience before it starts cost more. Beyond this it pauses, and sends nothing."
            min={credits}
            allowDecimal={false}
            thousandSeparator=","
            value={most}
            onChange={(value) => setLimit(Number(value))}
          />
        )}
        {!start && <p className={styles.soft}>Choose the time first, in the step When.</p>}
        {recipients === 0 && <p className={styles.soft}>Nobody would get it. Choose people first.</p>}
        <Button
          fullWidth
          className={styles.wrap}
          disabled={recipients === 0 || !start || isPast(timing) || isChanged}
          loading={isStale && !seen}
          onClick={() => setSeen(shown)}
        >
          {label}
        </Button>
      </div>
      <Confirm
        title={`${timing.when === 'now' ? 'Send' : 'Schedule'} to ${plural(recipients, 'person', 'people')}?`}
        act={label}
        isDangerous={false}
        isOpen={seen !== undefined}
        isBusy={act.isBusy || isStale}
        refusal={act.refusal?.code === 'preview_outdated' ? undefined : act.refusal}
        onClose={() => {
          act.forget();
          setSeen(undefined);
        }}
        onConfirm={() => void send()}
      >
        {seen && seen.preview_id !== preview_id && <Difference before={seen} after={shown} />}
        {timing.when === 'now' && <Held zones={shown.zones} />}
        <p>
          By this you confirm that these people agreed to be texted by you. People who opted out get nothing. Texts that
          have left cannot be taken back.
        </p>
      </Confirm>
    </Card>
  );
}

function Difference({ before, after }: { before: Previewed; after: Previewed }) {
  return (
    <div role="alert">
      <Notice kind="warn">
        <span>
          It changed since you looked: {plural(before.recipients, 'person', 'people')} and{' '}
          {plural(before.credits, 'credit')} before, {plural(after.recipients, 'person', 'people')} and{' '}
          {plural(after.credits, 'credit')} now. Nothing was sent.
        </span>
      </Notice>
    </div>
  );
}
