// The progress of a campaign: the people by state, and how they answered.

import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { useRefresh } from '../../graphql/index.ts';
import { Card, count, type Part, plural, Progress } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { courseOf, type Progressed, STATE_WORDS, type State } from './model.ts';
import type { Campaign } from './queries.ts';
import { CampaignAnswers } from './results.ts';
import { STATES } from './routes.ts';
import { useLately } from './useLately.ts';

interface ProgressCardProps {
  campaign: Campaign;
  progress: Progressed;
}

export function ProgressCard({ campaign, progress }: ProgressCardProps) {
  const { id, status } = campaign;
  const { people, states, percent, credits } = progress;
  const [{ data, ...state }, send] = useQuery({
    query: CampaignAnswers,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  useLately(
    (update) =>
      update.__typename === 'NewMessageUpdate' ||
      (update.__typename === 'CampaignUpdate' && update.campaign?.id === id),
    useRefresh(state, send),
  );
  const rows = data?.campaign_breakdown ?? [];
  const sum = (name: 'replies' | 'opt_outs' | 'segments') => rows.reduce((total, row) => total + row[name], 0);
  const parts: Part[] = STATES.filter((state) => state !== 'suppressed' && states[state] > 0).map((state) => ({
    key: state,
    name: STATE_WORDS[state].word,
    tone: STATE_WORDS[state].tone,
    value: states[state],
    label: <People id={id} state={state} />,
  }));
  const isUnderWay = status === 'sending' || status === 'paused';
  return (
    <Card title="Progress">
      <p className={styles.figure}>
        <strong>{isUnderWay ? `${percent}%` : plural(people, 'person', 'people')}</strong>{' '}
        {courseOf(campaign, progress)}
      </p>
      <Progress label="People by state" parts={parts} />
      <dl className={styles.figures}>
        <Answer id={id} answer="replied" label="replied" value={sum('replies')} />
        <Answer id={id} answer="opted_out" label="opted out" value={sum('opt_outs')} />
        <div>
          <dd>{count(credits)}</dd>
          <dt>{credits === 1 ? 'credit' : 'credits'}</dt>
        </div>
        <div>
          <dd>{count(states.suppressed)}</dd>
          <dt>{states.suppressed > 0 ? <People id={id} state="suppressed" /> : 'left out'}</dt>
        </div>
      </dl>
    </Card>
  );
}

function People({ id, state }: { id: number; state: State }) {
  return (
    <Link to="/campaigns/$id/recipients" params={{ id }} search={{ state }} title={STATE_WORDS[state].meaning}>
      {STATE_WORDS[state].word}
    </Link>
  );
}

interface AnswerProps {
  id: number;
  answer: 'replied' | 'opted_out';
  label: string;
  value: number;
}

function Answer({ id, answer, label, value }: AnswerProps) {
  return (
    <div>
      <dd>{count(value)}</dd>
      <dt>
        {value > 0 ? (
          <Link to="/campaigns/$id/recipients" params={{ id }} search={{ answer }}>
            {label}
          </Link>
        ) : (
          label
        )}
      </dt>
    </div>
  );
}
