// One webhook: its deliveries with every attempt, a test event, and replays.

import { Button, Select } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { type ResultOf, usePages } from '../../graphql/index.ts';
import { Card, Confirm, Empty, Facts, Failure, Page, Refused, Secret, Skeleton, Time, useAct } from '../../ui/index.ts';
import { Deliveries } from './Deliveries.tsx';
import { RemoveWebhook, ReplayFailed, RevealSecret, SendTest, UpdateWebhook } from './mutations.ts';
import { deliveriesListing, WebhookOne } from './queries.ts';
import { WebhookState } from './Webhooks.tsx';

const route = getRouteApi('/settings/keys/webhooks/$id');
const DAY = 24 * 60 * 60 * 1000;

type Shown = NonNullable<ResultOf<typeof WebhookOne>['webhook']>;

export function WebhookPage() {
  const { id } = route.useParams();
  const [{ data, error, fetching }] = useQuery({ query: WebhookOne, variables: { id } });
  const webhook = data?.webhook;
  if (webhook) return <Shown webhook={webhook} />;
  return (
    <Page title="Webhook">
      {fetching ? <Skeleton /> : error ? <Failure error={error} /> : <Empty>There is no such webhook.</Empty>}
    </Page>
  );
}

function Shown({ webhook }: { webhook: Shown }) {
  const { id, target_url, events, description, created_at, last_success_at } = webhook;
  const pages = usePages(deliveriesListing, { subscription_id: id, status: null });
  const reveal = useAct(RevealSecret);
  const [secret, setSecret] = useState<string>();
  const show = async () => setSecret((await reveal.run({ id }))?.reveal_webhook_secret.secret);
  return (
    <Page
      title={new URL(target_url).host}
      aside={<WebhookState webhook={webhook} />}
      actions={<Actions webhook={webhook} onChanged={pages.refresh} />}
    >
      <Card>
        <Facts
          rows={[
            ['Address', target_url],
            ['Description', description || '–'],
            ['Events', events.join(', ')],
            ['Made', <Time key="made" at={created_at} full />],
            ['Last success', <Time key="success" at={last_success_at} full />],
            [
              'Secret',
              secret ? (
                <Secret key="secret" value={secret} label="Secret" />
              ) : (
                <Button
                  key="reveal"
                  size="compact-xs"
                  variant="default"
                  loading={reveal.isBusy}
                  onClick={() => void show()}
                >
                  Show it
                </Button>
              ),
            ],
          ]}
        />
        {reveal.refusal && <Refused refusal={reveal.refusal} />}
      </Card>
      <h2 style={{ fontSize: 16 }}>Deliveries</h2>
      <Deliveries pages={pages} />
      <p>
        <Link to="/settings/keys">All keys and webhooks</Link>
      </p>
    </Page>
  );
}

function Actions({ webhook, onChanged }: { webhook: Shown; onChanged: () => void }) {
  const { id, events, status, kind, target_url } = webhook;
  const navigate = useNavigate();
  const test = useAct(SendTest);
  const update = useAct(UpdateWebhook);
  const replay = useAct(ReplayFailed);
  const remove = useAct(RemoveWebhook);
  const [isAsked, setAsked] = useState(false);
  const refusal = test.refusal ?? update.refusal ?? replay.refusal;
  const send = async (event: string | null) => {
    if (event && (await test.run({ id, event }))) onChanged();
  };
  const replayDay = async () => {
    if (await replay.run({ id, since: new Date(Date.now() - DAY).toISOString() })) onChanged();
  };
  const isActive = status === 'active';
  return (
    <>
      <Select
        w={200}
        aria-label="Send a test event"
        placeholder="Send a test event"
        value={null}
        data={events}
        onChange={(event) => void send(event)}
      />
      <Button variant="default" loading={replay.isBusy} onClick={() => void replayDay()}>
        Replay failed of 24 h
      </Button>
      <Button
        variant="default"
        loading={update.isBusy}
        onClick={() => void update.run({ id, changes: { active: !isActive } })}
      >
        {isActive ? 'Disable' : 'Enable'}
      </Button>
      <Button variant="default" onClick={() => setAsked(true)}>
        Remove
      </Button>
      {refusal && <Refused refusal={refusal} />}
      <Confirm
        title="Remove this webhook?"
        act="Remove the webhook"
        isOpen={isAsked}
        isBusy={remove.isBusy}
        refusal={remove.refusal}
        onClose={() => setAsked(false)}
        onConfirm={async () => {
          if (await remove.run({ id, kind })) await navigate({ to: '/settings/keys' });
        }}
      >
        {target_url} gets no events any more, and its deliveries that wait are canceled.
      </Confirm>
    </>
  );
}
