// Signs that carriers or recipients take the texts of a number for spam, and what was asked.

import { useQuery } from 'urql';
import { Badge, Card, Failure, Skeleton, words } from '../../ui/index.ts';
import styles from './numbers.module.css';
import { Spam } from './queries.ts';

export function SpamCard({ id }: { id: number }) {
  const [{ data, error }, again] = useQuery({ query: Spam, variables: { id }, requestPolicy: 'cache-and-network' });
  const check = data?.check_spam;
  return (
    <Card title="Signs of spam">
      {error && <Failure error={error} retry={again} />}
      {!check && !error && <Skeleton rows={8} />}
      {check && (
        <>
          <div className={styles.score}>
            {check.flagged ? <Badge kind="bad">Signs found</Badge> : <Badge kind="good">No sign found</Badge>}
            {check.low_sample && <span className={styles.soft}>from fewer than 30 results: they tell little</span>}
          </div>
          <ul className={styles.deductions} aria-label="Findings">
            {check.findings.map(({ code, text, fix }) => (
              <li key={code} style={{ display: 'block' }}>
                <strong>{words(code)}.</strong> {text} <span className={styles.soft}>{fix}</span>
              </li>
            ))}
            {check.sources.map(({ name, is_asked, text }) => (
              <li key={name} style={{ display: 'block' }} className={styles.soft}>
                {is_asked ? 'Asked' : 'Not asked'}: {text}
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}
