// The number of contacts of a filter at this moment, how many of them can be texted, and some of them.

import { Link } from '@tanstack/react-router';
import { type CombinedError, useQuery } from 'urql';
import { refusalOf } from '../../graphql/index.ts';
import { Badge, Card, count, Failure, plural, Skeleton, useSettled } from '../../ui/index.ts';
import { filterOf, type Group, isComplete } from './model.ts';
import { SegmentPreviewed } from './queries.ts';
import styles from './segments.module.css';

export function People({ tree }: { tree: Group }) {
  const isDone = isComplete(tree);
  const settled = useSettled(JSON.stringify(filterOf(tree)));
  const [{ data, error, fetching }, again] = useQuery({
    query: SegmentPreviewed,
    variables: { filter: JSON.parse(settled) },
    pause: !isDone,
    requestPolicy: 'cache-and-network',
  });
  const preview = data?.preview_segment;
  return (
    <Card title="Contacts in the segment">
      {!isDone && <p className={styles.soft}>Complete every condition to see the contacts of the segment.</p>}
      {isDone && error && isInvalid(error) && (
        <p className={styles.soft}>Correct the conditions to see the contacts of the segment.</p>
      )}
      {isDone && error && !isInvalid(error) && (
        <Failure error={error} retry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {isDone && !error && !preview && <Skeleton rows={3} />}
      {isDone && !error && preview && (
        <div aria-live="polite" aria-busy={fetching}>
          <p className={styles.total}>
            {!preview.is_exact && 'about '}
            {plural(preview.total_count, 'contact')}
          </p>
          <p>
            <Badge kind={preview.sendable_count > 0 ? 'good' : 'warn'}>
              {`${preview.is_exact ? '' : 'about '}${count(preview.sendable_count)} can be texted`}
            </Badge>
          </p>
          <ul className={styles.samples}>
            {preview.samples.map(({ id, label, status, dnd_sms }) => (
              <li key={id}>
                <Link to="/contacts/$id" params={{ id }}>
                  {label}
                </Link>
                {status === 'opted_out' && <Badge kind="bad">Opted out</Badge>}
                {status !== 'opted_out' && dnd_sms && <Badge kind="warn">DND</Badge>}
              </li>
            ))}
          </ul>
          {preview.total_count > preview.samples.length && (
            <p className={styles.soft}>The newest {preview.samples.length} are shown.</p>
          )}
        </div>
      )}
    </Card>
  );
}

function isInvalid(error: CombinedError): boolean {
  return refusalOf(error).code === 'invalid_input';
}
