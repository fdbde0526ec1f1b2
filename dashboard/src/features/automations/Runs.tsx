// The runs of an automation: each condition with the value that the contact had, and the result of each action.

import { Button, Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { usePages } from '../../graphql/index.ts';
import { Badge, Empty, Failure, type Kind, More, Skeleton, Time, words } from '../../ui/index.ts';
import styles from './automations.module.css';
import { RUN_STATES } from './model.ts';
import { type Run, runsListing } from './queries.ts';

const CHOICES = Object.entries(RUN_STATES).map(([value, { word }]) => ({ value, label: word }));

const OUTCOMES: Record<Run['results'][number]['outcome'], Kind> = {
  done: 'good',
  sent: 'good',
  waited: 'plain',
  refused: 'bad',
};

const route = getRouteApi('/automations/$id');

export function Runs({ automation_id }: { automation_id: number }) {
  const wanted = route.useSearch({ select: (search) => search.status });
  const navigate = route.useNavigate();
  const status = CHOICES.find(({ value }) => value === wanted)?.value ?? null;
  const pages = usePages(runsListing, { automation_id, status: status as Run['status'] | null });
  return (
    <>
      <div className={styles.acts} style={{ marginBottom: 12 }}>
        <Select
          aria-label="State"
          placeholder="All states"
          w={200}
          clearable
          clearButtonProps={{ 'aria-label': 'All states' }}
          data={CHOICES}
          value={status}
          onChange={(next) =>
            void navigate({ search: { status: next ?? undefined }, replace: true, resetScroll: false })
          }
        />
        <Button variant="default" loading={pages.isLoading} onClick={pages.refresh}>
          Refresh
        </Button>
      </div>
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty>No run yet. Each run is kept for 90 days, and says why it did what it did.</Empty>
      )}
      {pages.rows.length > 0 && (
        <section className={styles.list} aria-label="Runs">
          {pages.rows.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </section>
      )}
      <More pages={pages} />
    </>
  );
}

function RunRow({
  run: { status, reason, due_at, created_at, contact, contact_id, conditions, results },
}: {
  run: Run;
}) {
  const { kind, word } = RUN_STATES[status];
  return (
    <details className={styles.run}>
      <summary>
        <Badge kind={kind}>{word}</Badge>
        <Time at={created_at} full />
        <span>{contact?.label ?? `Contact ${contact_id}`}</span>
        <span className={styles.soft}>{reason}</span>
      </summary>
      <ul className={styles.results} aria-label="Explanation">
        {conditions.map(({ condition, value, holds }) => (
          <li key={condition}>
            <Badge kind={holds ? 'good' : 'bad'}>{holds ? 'Held' : 'Did not hold'}</Badge> {condition}{' '}
            <span className={styles.soft}>(the contact had {value ?? 'nothing'})</span>
          </li>
        ))}
        {results.map(({ action, outcome, code, text }, index) => (
          <li key={index}>
            <Badge kind={OUTCOMES[outcome]}>{words(outcome)}</Badge> {action}{' '}
            {text && (
              <span className={styles.soft}>
                {text} {code && `(${code})`}
              </span>
            )}
          </li>
        ))}
      </ul>
      {due_at && (
        <p>
          The next action is due <Time at={due_at} full />.
        </p>
      )}
      <Link to="/contacts/$id" params={{ id: contact_id }}>
        Open the contact
      </Link>
    </details>
  );
}
