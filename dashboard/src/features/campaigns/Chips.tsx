// The groups of recipients as links, with the number of people in each.

import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { count, Mark } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { type Counts, progressOf, STATE_WORDS } from './model.ts';
import { CampaignAnswers } from './results.ts';
import { ANSWERS, type RecipientsSearch, STATES } from './routes.ts';

const EXACT = { exact: true, includeSearch: true };
const ANSWER_WORDS = { replied: 'Replied', opted_out: 'Opted out' };

interface ChipsProps {
  id: number;
  counts: Counts;
  filter: RecipientsSearch;
}

export function Chips({ id, counts, filter: { state, answer } }: ChipsProps) {
  const [{ data }] = useQuery({ query: CampaignAnswers, variables: { id }, requestPolicy: 'cache-and-network' });
  const { audience, states } = progressOf(counts);
  const rows = data?.campaign_breakdown ?? [];
  const answers = {
    replied: rows.reduce((sum, { replies }) => sum + replies, 0),
    opted_out: rows.reduce((sum, { opt_outs }) => sum + opt_outs, 0),
  };
  const current = (is: boolean) => (is ? 'true' : undefined);
  return (
    <nav aria-label="Groups of recipients">
      <ul className={styles.chips}>
        <li>
          <Link
            to="/campaigns/$id/recipients"
            params={{ id }}
            search={{}}
            activeOptions={EXACT}
            aria-current={current(!state && !answer)}
          >
            All {count(audience)}
          </Link>
        </li>
        {STATES.filter((each) => states[each] > 0 || each === state).map((each) => (
          <li key={each}>
            <Link
              to="/campaigns/$id/recipients"
              params={{ id }}
              search={{ state: each }}
              activeOptions={EXACT}
              aria-current={current(each === state)}
            >
              <Mark tone={STATE_WORDS[each].tone} />
              {STATE_WORDS[each].word} {count(states[each])}
            </Link>
          </li>
        ))}
        {ANSWERS.filter((each) => answers[each] > 0 || each === answer).map((each) => (
          <li key={each}>
            <Link
              to="/campaigns/$id/recipients"
              params={{ id }}
              search={{ answer: each }}
              activeOptions={EXACT}
              aria-current={current(each === answer)}
            >
              {ANSWER_WORDS[each]} {count(answers[each])}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
