// What a campaign will do: who gets it and who does not, what it costs, and how it reads.

import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { type ResultOf, useMay } from '../../graphql/index.ts';
import {
  Card,
  Confirm,
  count,
  Facts,
  Failure,
  money,
  Notice,
  plural,
  Skeleton,
  useAct,
  words,
} from '../../ui/index.ts';
import { SendCampaign } from './mutations.ts';
import { CampaignPreview } from './queries.ts';

type Shown = NonNullable<ResultOf<typeof CampaignPreview>['preview_campaign']>;

export function Preview({ id }: { id: number }) {
  const [{ data, error }, again] = useQuery({
    query: CampaignPreview,
    variables: { id },
    requestPolicy: 'network-only',
  });
  const preview = data?.preview_campaign;
  if (error) return <Failure error={error} retry={again} />;
  if (!preview) return <Skeleton />;
  return (
    <>
      <Summary preview={preview} />
      <Samples samples={preview.samples} />
      <Send id={id} preview={preview} />
    </>
  );
}

function Summary({ preview }: { preview: Shown }) {
  const { audience, recipients, excluded, credits, cost, currency, histogram, findings } = preview;
  return (
    <Card title="Check">
      <Facts
        rows={[
          ['Chosen', plural(audience, 'person', 'people')],
          ['Get it', <strong key="recipients">{plural(recipients, 'person', 'people')}</strong>],
          [
            'Left out',
            excluded.map(({ reason, count: number }) => `${count(number)} ${words(reason).toLowerCase()}`).join(', ') ||
              'nobody',
          ],
          [
            'Parts',
            histogram
              .map(({ segments, count: number }) => `${plural(segments, 'part')}: ${count(number)}`)
              .join(' · ') || '–',
          ],
          ['Cost', `${plural(credits, 'credit')}, ${money(cost, currency)}`],
        ]}
      />
      {findings.map(({ rule, text, advice }) => (
        <div key={rule + text} style={{ marginTop: 12 }}>
          <Notice kind="warn">
            {text} {advice}
          </Notice>
        </div>
      ))}
    </Card>
  );
}

function Samples({ samples }: { samples: Shown['samples'] }) {
  const [at, setAt] = useState(0);
  const sample = samples[at];
  if (!sample) return null;
  const step = (by: number) => setAt((at + by + samples.length) % samples.length);
  return (
    <Card title={`As ${sample.phone} reads it`}>
      <p style={{ whiteSpace: 'pre-wrap' }} dir="auto">
        {sample.body}
      </p>
      <Group>
        <Button size="xs" variant="default" onClick={() => step(-1)}>
          Before
        </Button>
        <span>
          {at + 1} of {samples.length} · {plural(sample.segments, 'part')} · {plural(sample.credits, 'credit')}
        </span>
        <Button size="xs" variant="default" onClick={() => step(1)}>
          Next
        </Button>
      </Group>
    </Card>
  );
}

function Send({ id, preview }: { id: number; preview: Shown }) {
  const { preview_id, recipients, credits } = preview;
  const act = useAct(SendCampaign);
  const [isAsked, setAsked] = useState(false);
  const people = plural(recipients, 'person', 'people');
  const most = plural(credits, 'credit');
  if (!useMay('campaigns:send') || recipients === 0) return null;
  return (
    <>
      <Button onClick={() => setAsked(true)}>
        Send to {people} for at most {most}
      </Button>
      <Confirm
        title={`Send to ${people}?`}
        act={`Send to ${people} for at most ${most}`}
        isDangerous={false}
        isOpen={isAsked}
        isBusy={act.isBusy}
        refusal={act.refusal}
        onClose={() => setAsked(false)}
        onConfirm={() => void act.run({ id, preview_id, max_credits: credits })}
      >
        By sending you confirm that these people agreed to be texted by you. Who has opted out gets nothing. Texts that
        have left cannot be taken back.
      </Confirm>
    </>
  );
}
