// One drip sequence: its texts along a line of time, its figures, and the people who are in it.

import { Button } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay, usePages, useUpdates } from '../../graphql/index.ts';
import { Confirm, Empty, Failure, Page, plural, Refused, Skeleton, useAct } from '../../ui/index.ts';
import { EnrollForm } from './EnrollForm.tsx';
import { Enrollments } from './Enrollments.tsx';
import { UpdateStatus } from './mutations.ts';
import { enrollmentsListing, type Sequence, SequenceFigures, SequenceOne } from './queries.ts';
import styles from './sequences.module.css';
import { SequenceState } from './SequenceState.tsx';
import { timingOf } from './timing.ts';

const route = getRouteApi('/sequences/$id');

export function SequencePage() {
  const { id } = route.useParams();
  const [{ data, error, fetching }, again] = useQuery({
    query: SequenceOne,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const sequence = data?.sequence;
  if (!sequence) {
    return (
      <Page title="Sequence">
        {fetching ? (
          <Skeleton />
        ) : error ? (
          <Failure error={error} retry={() => again({ requestPolicy: 'network-only' })} />
        ) : (
          <Empty>There is no such sequence.</Empty>
        )}
      </Page>
    );
  }
  return (
    <Page
      title={sequence.name}
      aside={<SequenceState status={sequence.status} />}
      actions={<Control sequence={sequence} />}
    >
      <Known sequence={sequence} />
    </Page>
  );
}

function Known({ sequence }: { sequence: Sequence }) {
  const { id, steps, status } = sequence;
  const { status: wanted } = route.useSearch();
  const pages = usePages(enrollmentsListing, { id, status: wanted });
  const [{ data }, countAgain] = useQuery({
    query: SequenceFigures,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const reload = () => {
    pages.refresh();
    countAgain({ requestPolicy: 'network-only' });
  };
  useUpdates((update) => {
    if (update === 'missed') reload();
  });
  const mayEnroll = useMay('campaigns:send') && status !== 'archived';
  const figure = (label: string, counted?: { total_count: number; total_is_exact: boolean } | null) => (
    <div>
      <dd>{counted ? `${counted.total_count}${counted.total_is_exact ? '' : '+'}` : '–'}</dd>
      <dt>{label}</dt>
    </div>
  );
  return (
    <>
      <dl className={styles.figures}>
        {figure('under way', data?.active)}
        {figure('got every text', data?.completed)}
        {figure('left before', data?.exited)}
      </dl>
      <div className={styles.columns}>
        <ol className={styles.line} aria-label="Texts">
          {steps.map((step) => (
            <li key={step.position} className={styles.step}>
              <section className={styles.card} aria-label={`Text ${step.position}`}>
                <h2>{timingOf(step, step.position === 1)}</h2>
                <p className={styles.body} dir="auto">
                  {step.body}
                </p>
              </section>
            </li>
          ))}
        </ol>
        {mayEnroll && <EnrollForm sequence={sequence} onEnrolled={reload} />}
      </div>
      <Enrollments pages={pages} sequence={sequence} status={wanted} onChange={reload} />
    </>
  );
}

function Control({ sequence: { id, name, status } }: { sequence: Sequence }) {
  const act = useAct(UpdateStatus);
  const [isAsked, setAsked] = useState(false);
  const [{ data }] = useQuery({ query: SequenceFigures, variables: { id } });
  const isActive = status === 'active';
  const people = plural(data?.active?.total_count ?? 0, 'person', 'people');
  if (!useMay('campaigns:write') || status === 'archived') return null;
  return (
    <>
      <Button
        variant="default"
        loading={act.isBusy && !isAsked}
        onClick={() => void act.run({ id, status: isActive ? 'paused' : 'active' })}
      >
        {isActive ? 'Pause' : 'Go on'}
      </Button>
      <Button variant="default" onClick={() => setAsked(true)}>
        Archive
      </Button>
      {act.refusal && !isAsked && <Refused refusal={act.refusal} />}
      <Confirm
        title={`Archive ${name}?`}
        act={`Archive ${name}`}
        isOpen={isAsked}
        isBusy={act.isBusy}
        refusal={act.refusal}
        onClose={() => setAsked(false)}
        onConfirm={async () => (await act.run({ id, status: 'archived' })) && setAsked(false)}
      >
        It ends for the {people} who are under way in it: they get no further text. Nobody can be enrolled after that.
      </Confirm>
    </>
  );
}
