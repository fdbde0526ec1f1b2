// One webhook: its deliveries with every attempt, a test event, and replays.

import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { type ResultOf, usePages } from '../../graphql/index.ts';
import { Absent, Card, Facts, Page, Time } from '../../ui/index.ts';
import { Actions } from './Actions.tsx';
import { Deliveries } from './Deliveries.tsx';
import { Filters } from './Filters.tsx';
import { figures } from './model.ts';
import { deliveriesListing, type Delivery, WebhookOne } from './queries.ts';
import { wanted } from './search.ts';
import { SigningSecret } from './SigningSecret.tsx';
import { WebhookState } from './Webhooks.tsx';

const route = getRouteApi('/settings/keys/webhooks/$id');

export type Webhook = NonNullable<ResultOf<typeof WebhookOne>['webhook']>;

export function WebhookPage() {
  const { id } = route.useParams();
  const [{ data, error, fetching }, again] = useQuery({
    query: WebhookOne,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const webhook = data?.webhook;
  if (webhook) return <Shown webhook={webhook} onRefresh={() => again({ requestPolicy: 'network-only' })} />;
  return (
    <Absent title="Webhook" isLoading={fetching} error={error} retry={again}>
      There is no such webhook.
    </Absent>
  );
}

function Shown({ webhook, onRefresh }: { webhook: Webhook; onRefresh: () => void }) {
  const { id, target_url, events, description, created_at, failing_since, stats } = webhook;
  const search = route.useSearch();
  const listed = usePages(deliveriesListing, { subscription_id: id, ...wanted(search) });
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
            ['Last 24 hours, without tests', figures(stats)],
            ['Last success', <Time key="success" at={lastSuccess(webhook, pages.rows)} full />],
            ...(failing_since
              ? [['Failing since', <Time key="failing" at={failing_since} full />] as [string, ReactNode]]
              : []),
            ['Secret', <SigningSecret key="secret" id={id} />],
          ]}
        />
      </Card>
      <h2 style={{ fontSize: 16 }}>Deliveries</h2>
      <Filters events={events} />
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
