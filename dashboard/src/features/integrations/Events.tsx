// The events that came: what each did, or why it failed, with its body; a failed one is applied again.

import { Button, Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { usePages } from '../../graphql/index.ts';
import {
  Badge,
  Card,
  Empty,
  Failure,
  type Kind,
  More,
  Refused,
  Skeleton,
  Time,
  useAct,
  words,
} from '../../ui/index.ts';
import styles from './integrations.module.css';
import { ReplayEvent } from './mutations.ts';
import { eventsListing, type IntegrationEvent } from './queries.ts';

const MARKS: Record<IntegrationEvent['status'], Kind> = {
  waiting: 'warn',
  applied: 'good',
  ignored: 'plain',
  failed: 'bad',
};

const CHOICES = Object.keys(MARKS).map((value) => ({ value, label: words(value) }));

const route = getRouteApi('/settings/integrations/$id');

export function Events({ integration_id, onChanged }: { integration_id: number; onChanged: () => void }) {
  const wanted = route.useSearch({ select: (search) => search.status });
  const navigate = route.useNavigate();
  const status = CHOICES.find(({ value }) => value === wanted)?.value ?? null;
  const pages = usePages(eventsListing, { integration_id, status: status as IntegrationEvent['status'] | null });
  const refresh = () => {
    pages.refresh();
    onChanged();
  };
  return (
    <Card title="Events that came">
      <div className={styles.acts}>
        <Select
          aria-label="Status of events"
          placeholder="All"
          w={160}
          clearable
          clearButtonProps={{ 'aria-label': 'All events' }}
          data={CHOICES}
          value={status}
          onChange={(next) =>
            void navigate({ search: { status: next ?? undefined }, replace: true, resetScroll: false })
          }
        />
        <Button variant="default" loading={pages.isLoading} onClick={refresh}>
          Refresh
        </Button>
      </div>
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton rows={3} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && <Empty>No event came yet.</Empty>}
      {pages.rows.map((event) => (
        <Row key={event.id} event={event} onChanged={refresh} />
      ))}
      <More pages={pages} />
    </Card>
  );
}

function Row({ event, onChanged }: { event: IntegrationEvent; onChanged: () => void }) {
  const { id, event: name, status, result, body, contact_id, received_at } = event;
  const replay = useAct(ReplayEvent);
  return (
    <details className={styles.row}>
      <summary>
        <Badge kind={MARKS[status]}>{words(status)}</Badge>
        <Time at={received_at} full />
        <span dir="auto">{result || name || 'an event'}</span>
      </summary>
      {name && name !== 'event' && <p>Event {name}</p>}
      <pre className={styles.code}>{body || 'The body is not kept any more.'}</pre>
      {replay.refusal && <Refused refusal={replay.refusal} />}
      <div className={styles.acts}>
        {status === 'failed' && (
          <Button
            size="xs"
            variant="default"
            loading={replay.isBusy}
            onClick={async () => (await replay.run({ id })) && onChanged()}
          >
            Apply it again
          </Button>
        )}
        {contact_id && (
          <Link to="/contacts/$id" params={{ id: contact_id }}>
            Open the contact
          </Link>
        )}
      </div>
    </details>
  );
}
