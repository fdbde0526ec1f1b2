// Why a person can be texted or not: every gate of a send, with what helps.

import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Badge, Card, Failure, type Kind, Skeleton, Time, words } from '../../ui/index.ts';
import styles from './contacts.module.css';
import { ContactExplained } from './queries.ts';

const KINDS: Record<string, Kind> = { passed: 'good', deferred: 'warn', refused: 'bad', unknown: 'plain' };

export function Explanation({ id }: { id: number }) {
  const [purpose, setPurpose] = useState('reply');
  const [{ data, error }, again] = useQuery({
    query: ContactExplained,
    variables: { contact_id: id, is_promotional: purpose === 'promotional' },
    requestPolicy: 'cache-and-network',
  });
  const found = data?.explain_send;
  return (
    <Card title="May I text this person?">
      <SegmentedControl
        size="xs"
        mb="sm"
        aria-label="Purpose"
        value={purpose}
        onChange={setPurpose}
        data={[
          { value: 'reply', label: 'A personal text' },
          { value: 'promotional', label: 'A promotion' },
        ]}
      />
      {error && <Failure error={error} retry={() => again({ requestPolicy: 'network-only' })} />}
      {!found && !error && <Skeleton rows={4} />}
      {found && (
        <>
          <p>
            <strong>{found.is_allowed ? 'Yes' : 'No'}</strong>
            {found.deferred_until && (
              <>
                , from <Time at={found.deferred_until} full /> on
              </>
            )}
          </p>
          <ul className={styles.gates}>
            {found.gates
              .filter(({ verdict }) => verdict !== 'passed')
              .map(({ gate, verdict, reason, remedy }) => (
                <li key={gate}>
                  <Badge kind={KINDS[verdict]}>{words(gate)}</Badge> {reason}
                  {remedy && <div>{remedy}</div>}
                </li>
              ))}
          </ul>
          <p className={styles.passed}>
            Passed:{' '}
            {found.gates
              .filter(({ verdict }) => verdict === 'passed')
              .map(({ gate }) => words(gate).toLowerCase())
              .join(', ')}
            .
          </p>
        </>
      )}
    </Card>
  );
}
