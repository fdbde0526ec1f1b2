// One webhook: its deliveries with every attempt, a test event, and replays.

import { Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useQuery } from 'urql';
import { type ResultOf, usePages } from '../../graphql/index.ts';
import { Absent, Card, Facts, Page, Time, words } from '../../ui/index.ts';
import { Actions } from './Actions.tsx';
import { Deliveries } from './Deliveries.tsx';
import { deliveriesListing, type Delivery, WebhookOne } from './queries.ts';
import { SigningSecret } from './SigningSecret.tsx';
import { WebhookState } from './Webhooks.tsx';

const route = getRouteApi('/settings/keys/webhooks/$id');
const STATES: Delivery['status'][] = ['pending', 'delivered', 'failed', 'skipped', 'canceled'];

export type Webhook = NonNullable<ResultOf<typeof WebhookOne>['webhook']>;

export function WebhookPage() {
  const { id } = route.useParams();
  const [{ data, error, fetching }, again] = useQuery({ query: WebhookOne, variables: { id } });
  const webhook = data?.webhook;
  if (webhook) return <Shown webhook={webhook} onRefresh={() => again({ requestPolicy: 'network-only' })} />;
  return (
    <Absent title="Webhook" isLoading={fetching} error={error} retry={again}>
      There is no such webhook.
    </Absent>
  );
}

function Shown({ webhook, onRefresh }: { webhook: Webhook; onRefresh: () => void }) {
  const { id, target_url, events, description, created_at, failing_since } = webhook;
  const [status, setStatus] = useState<string | null>(null);
  const listed = usePages(deliveriesListing, { subscription_id: id, status: status as Delivery['status'] | null });
  const refresh = () => {
    listed.refresh();
    onRefresh();
  };
  const pages = { ...listed, refresh };
  return (
    <Page
      title={new URL(target_url).host}
      aside={<WebhookState webhook={webhook} />}
      actions={<Actions webhook={webhook} onChanged={refresh} />}
    >
      <Card>
        <Facts
          rows={[
            ['Address', target_url],
            ['Description', description || '–'],
            ['Events', events.join(', ')],
            ['Made', <Time key="made" at={created_at} full />],
            ['Last success', <Time key="success" at={lastSuccess(webhook, pages.rows)} full />],
            ...(failing_since
              ? [['Failing since', <Time key="failing" at={failing_since} full />] as [string, ReactNode]]
              : []),
            ['Secret', <SigningSecret key="secret" id={id} />],
          ]}
        />
      </Card>
      <h2 style={{ fontSize: 16 }}>Deliveries</h2>
      <Select
        mb="sm"
        w={200}
        aria-label="Status of deliveries"
        placeholder="All deliveries"
        clearable
        clearButtonProps={{ 'aria-label': 'All deliveries' }}
        data={STATES.map((value) => ({ value, label: words(value) }))}
        value={status}
        onChange={setStatus}
      />
      <Deliveries pages={pages} />
      <p>
        <Link to="/settings/keys">All keys and webhooks</Link>
      </p>
    </Page>
  );
}

/** Return the time of the last success, which is stored with the webhook a little later than with the delivery. */
function lastSuccess({ last_success_at }: Webhook, deliveries: Delivery[]): string | null {
  const times = [last_success_at, ...deliveries.map(({ delivered_at }) => delivered_at)];
  return times.filter((time) => time !== null).sort((one, other) => Date.parse(other) - Date.parse(one))[0] ?? null;
}
