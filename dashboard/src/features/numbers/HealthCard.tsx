// The health of a number: its score, and every deduction that leads to it.

import { Progress } from '@mantine/core';
import { useQuery } from 'urql';
import type { ResultOf } from '../../graphql/index.ts';
import { Badge, Card, Failure, percent, Skeleton, words } from '../../ui/index.ts';
import { HEALTH } from './model.ts';
import styles from './numbers.module.css';
import { Health } from './queries.ts';

type Shown = NonNullable<ResultOf<typeof Health>['check_deliverability']>;

export function HealthCard({ id }: { id: number }) {
  const [{ data, error }, again] = useQuery({ query: Health, variables: { id }, requestPolicy: 'cache-and-network' });
  const health = data?.check_deliverability;
  return (
    <Card title="Health, last 7 days">
      {error && <Failure error={error} retry={again} />}
      {!health && !error && <Skeleton rows={4} />}
      {health && <Score health={health} />}
    </Card>
  );
}

function Score({ health: { score, state, rate, deductions } }: { health: Shown }) {
  const { kind, word } = HEALTH[state];
  return (
    <>
      <div className={styles.score}>
        <strong>{score}</strong>
        <span className={styles.soft}>of 100</span>
        <Badge kind={kind}>{word}</Badge>
        <span className={styles.soft}>{rate === null ? 'no results yet' : `${percent(rate)} delivered`}</span>
      </div>
      <Progress value={score} color={`var(--${kind === 'plain' ? 'soft' : kind})`} aria-label="Health" mb="md" />
      {state === 'unknown' && <p>Fewer than 30 results in seven days: the score tells little yet.</p>}
      {deductions.length === 0 && <p className={styles.soft}>Nothing is deducted.</p>}
      <ul className={styles.deductions} aria-label="Deductions">
        {deductions.map(({ code, points, text, fix }) => (
          <li key={code}>
            <span className={styles.points}>−{points}</span>
            <span>
              <strong>{words(code)}.</strong> {text}
              <br />
              <span className={styles.soft}>{fix}</span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
