// The reasons for which people got no text, each with what to do and the people concerned.

import { Link } from '@tanstack/react-router';
import { Card, count, Mark } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { groupsOf, reasonOf, STATE_WORDS } from './model.ts';
import type { Campaign } from './queries.ts';

export function Reasons({ campaign: { id, counts } }: { campaign: Campaign }) {
  const groups = groupsOf(counts, ['failed', 'suppressed', 'claimed']);
  if (groups.length === 0) return null;
  return (
    <Card title="People without a text, by reason">
      <ul className={styles.reasons} aria-label="Reasons">
        {groups.map(({ state, reason, recipients, description }) => (
          <li key={`${state} ${reason}`}>
            <strong>{count(recipients)}</strong>
            <span>
              <Mark tone={STATE_WORDS[state].tone} />{' '}
              <Link to="/campaigns/$id/recipients" params={{ id }} search={{ state, reason }}>
                {STATE_WORDS[state].word}: {reasonOf(reason).toLowerCase()}
              </Link>
              <span className={styles.soft}>{description}</span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
