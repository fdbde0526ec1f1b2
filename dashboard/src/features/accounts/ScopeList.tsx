// Scopes in words, behind their number.

import { useQuery } from 'urql';
import { plural } from '../../ui/index.ts';
import styles from './accounts.module.css';
import { Scopes } from './queries.ts';

export function ScopeList({ scopes }: { scopes: string[] }) {
  const [{ data }] = useQuery({ query: Scopes });
  const wordsOf = new Map(data?.scopes.map(({ name, description }) => [name, description]));
  return (
    <details className={styles.list}>
      <summary>{plural(scopes.length, 'scope')}</summary>
      <ul>
        {scopes.map((scope) => (
          <li key={scope}>
            {wordsOf.get(scope) ?? scope} <code className={styles.mono}>{scope}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}
