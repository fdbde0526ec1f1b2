// Every decision of an agent, with the rules that it passed and the one that fired.

import { Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { usePages, useUpdates } from '../../graphql/index.ts';
import { Badge, Empty, Failure, More, Skeleton, Time, words } from '../../ui/index.ts';
import styles from './agents.module.css';
import { OUTCOMES } from './model.ts';
import { type Run, runsListing } from './queries.ts';
import { Verdicts } from './Verdicts.tsx';

type Outcome = NonNullable<Run['outcome']>;

const CHOICES = Object.entries(OUTCOMES).map(([value, { word }]) => ({ value, label: word }));

const route = getRouteApi('/agents/$id');

export function Runs({ agent_id }: { agent_id: number }) {
  const wanted = route.useSearch({ select: (search) => search.outcome });
  const navigate = route.useNavigate();
  const outcome = CHOICES.find(({ value }) => value === wanted)?.value ?? null;
  const pages = usePages(runsListing, { agent_id, outcome: outcome as Outcome | null });
  useUpdates((update) => {
    if (update === 'missed' || update.__typename === 'AgentUpdate') pages.refresh();
  });
  return (
    <>
      <Select
        aria-label="Result"
        placeholder="All results"
        w={240}
        mb="sm"
        clearable
        clearButtonProps={{ 'aria-label': 'All results' }}
        data={CHOICES}
        value={outcome}
        onChange={(next) =>
          void navigate({ search: { tab: 'runs', outcome: next ?? undefined }, replace: true, resetScroll: false })
        }
      />
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty>
          No decision yet. Each text that comes in while the agent is active leads to one, kept for 90 days.
        </Empty>
      )}
      {pages.rows.length > 0 && (
        <section className={styles.list} aria-label="Decisions">
          {pages.rows.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </section>
      )}
      <More pages={pages} />
    </>
  );
}

function RunRow({ run }: { run: Run }) {
  const { outcome, created_at, gate, reason, draft, summary, conversation_id, gates, passages, decided_by } = run;
  const result = outcome ? OUTCOMES[outcome] : { kind: 'plain' as const, word: 'Under way' };
  return (
    <details className={styles.run}>
      <summary>
        <Badge kind={result.kind}>{result.word}</Badge>
        <Time at={created_at} full />
        <span className={styles.soft}>{gate ? `${words(gate)}. ${reason}` : reason}</span>
      </summary>
      {draft && (
        <p className={styles.text} dir="auto">
          {draft}
        </p>
      )}
      {summary && <p className={`${styles.text} ${styles.soft}`}>{summary}</p>}
      {decided_by && <p className={styles.soft}>Decided by {decided_by.label}</p>}
      <Verdicts verdicts={gates} passages={passages} />
      <Link to="/inbox/$view/$id" params={{ view: 'open', id: conversation_id }}>
        Open the conversation
      </Link>
    </details>
  );
}
