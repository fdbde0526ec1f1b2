// One drip sequence: its texts along a line of time with their figures, its rules, and the people who are in it.

import { getRouteApi } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { useMay, usePages, useUpdates } from '../../graphql/index.ts';
import { Absent, Card, count, Page, plural, words } from '../../ui/index.ts';
import { Control } from './Control.tsx';
import { EnrollCard } from './EnrollCard.tsx';
import { Enrollments } from './Enrollments.tsx';
import { SavedPreview } from './Preview.tsx';
import { exitsInWords, windowInWords } from './model.ts';
import { enrollmentsListing, type Sequence, SequenceOne } from './queries.ts';
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
  const reload = () => again({ requestPolicy: 'network-only' });
  const sequence = data?.sequence;
  if (!sequence) {
    return (
      <Absent title="Sequence" isLoading={fetching} error={error} retry={reload}>
        There is no such sequence.
      </Absent>
    );
  }
  return (
    <Page
      title={sequence.name}
      aside={<SequenceState status={sequence.status} />}
      actions={<Control sequence={sequence} />}
    >
      <Known sequence={sequence} reload={reload} />
    </Page>
  );
}

function Known({ sequence, reload }: { sequence: Sequence; reload: () => void }) {
  const { id, status } = sequence;
  const { status: wanted, job } = route.useSearch();
  const pages = usePages(enrollmentsListing, { id, status: wanted });
  const renew = () => {
    pages.refresh();
    reload();
  };
  useUpdates((update) => {
    if (update === 'missed') renew();
  });
  const mayEnroll = useMay('campaigns:send') && status !== 'archived';
  const mayPreview = useMay('contacts:read') && status !== 'archived';
  return (
    <>
      <Figures sequence={sequence} />
      <div className={styles.columns}>
        <Texts sequence={sequence} />
        <div>
          {mayEnroll && <EnrollCard sequence={sequence} job={job} onEnrolled={renew} />}
          <RulesInWords sequence={sequence} />
          {mayPreview && <SavedPreview id={id} />}
        </div>
      </div>
      <Enrollments pages={pages} sequence={sequence} status={wanted} onChange={renew} />
    </>
  );
}

function Figures({ sequence: { counts } }: { sequence: Sequence }) {
  const figures: [number, string][] = [
    [counts.active, 'under way'],
    [counts.completed + counts.finishing, 'got every text'],
    [counts.exited, 'left before'],
  ];
  if (counts.paused > 0) figures.splice(1, 0, [counts.paused, 'of them paused']);
  return (
    <dl className={styles.figures}>
      {figures.map(([value, label]) => (
        <div key={label}>
          <dd>{count(value)}</dd>
          <dt>{label}</dt>
        </div>
      ))}
    </dl>
  );
}

function Texts({ sequence: { steps } }: { sequence: Sequence }) {
  return (
    <ol className={styles.line} aria-label="Texts">
      {steps.map((step) => (
        <li key={step.key} className={styles.step}>
          <section className={styles.card} aria-label={`Text ${step.position}`}>
            <h2>{timingOf(step, step.position === 1)}</h2>
            <p className={styles.body} dir="auto">
              {step.body}
            </p>
            <p className={styles.soft}>
              {plural(step.waiting_count, 'person waits', 'people wait')} for it · sent to{' '}
              {plural(step.sent_count, 'person', 'people')}
            </p>
          </section>
        </li>
      ))}
    </ol>
  );
}

function RulesInWords({ sequence }: { sequence: Sequence }) {
  const { exits, window, counts, steps_version, older_versions } = sequence;
  const older = older_versions.filter(({ active_count }) => active_count > 0);
  return (
    <Card title={`Version ${steps_version}`}>
      <p>{exitsInWords(exits)}</p>
      <p>{windowInWords(window)}</p>
      {older.map(({ steps_version: version, active_count }) => (
        <p key={version}>
          {plural(active_count, 'person finishes', 'people finish')} version {version}.
        </p>
      ))}
      {counts.exits.length > 0 && (
        <>
          <h3 className={styles.head}>Reasons for leaving</h3>
          <ul className={styles.exits} aria-label="Reasons for leaving">
            {counts.exits.map(({ reason, count: people }) => (
              <li key={reason}>
                <strong>{count(people)}</strong> {words(reason)}
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}
