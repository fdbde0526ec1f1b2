// Matters that need a person: each entry leads to the page where it is settled.

import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Badge, capped, Card, type Kind, plural, words } from '../../ui/index.ts';
import styles from './home.module.css';
import { HomeBalance, HomeConnections, HomeConversations, HomeWebhooks } from './queries.ts';

interface Matter {
  to: string;
  kind: Kind;
  word: string;
  text: string;
}

export function Attention() {
  const matters = [...useOptOuts(), ...useConnections(), ...useWebhooks(), ...useCredits()];
  if (matters.length === 0) return null;
  return (
    <Card title="Needs attention">
      <ul className={styles.matters}>
        {matters.map(({ to, kind, word, text }) => (
          <li key={to + text}>
            <Badge kind={kind}>{word}</Badge>
            <Link to={to}>{text}</Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function useOptOuts(): Matter[] {
  const pause = !useMay('conversations:read');
  const [{ data }] = useQuery({ query: HomeConversations, pause });
  const waiting = data?.conversation_counts.possible_opt_out ?? 0;
  if (waiting === 0) return [];
  const replies = waiting === 1 ? 'reply' : 'replies';
  const text = `${capped(waiting)} ${replies} may be an opt-out: texts to these people wait for a decision`;
  return [{ to: '/inbox/possible-opt-out', kind: 'warn', word: 'Opt-out?', text }];
}

function useConnections(): Matter[] {
  const pause = !useMay('numbers:read');
  const [{ data }] = useQuery({ query: HomeConnections, pause, requestPolicy: 'cache-and-network' });
  return (data?.carrier_connections ?? []).flatMap(({ name, health }) =>
    health.alerts.map(({ text }): Matter => ({
      to: '/numbers',
      kind: 'bad',
      word: 'Carrier',
      text: `${name}: ${text}`,
    })),
  );
}

function useWebhooks(): Matter[] {
  const pause = !useMay('webhooks:manage');
  const [{ data }] = useQuery({ query: HomeWebhooks, pause, requestPolicy: 'cache-and-network' });
  const broken = (data?.webhooks ?? []).filter(({ status, failing_since }) => failing_since && status !== 'removed');
  const lost = (data?.crm_connections ?? []).filter(({ state }) => state === 'lost');
  return [
    ...broken.map(({ id, target_url, status }): Matter => {
      const state = status === 'disabled' ? 'is disabled, because it failed' : 'does not accept its events';
      return { to: `/settings/keys/webhooks/${id}`, kind: 'bad', word: 'Webhook', text: `${target_url} ${state}` };
    }),
    ...lost.map(({ kind }): Matter => {
      const text = `${words(kind)} refuses the connection: authorize it again`;
      return { to: '/settings/integrations', kind: 'bad', word: 'Integration', text };
    }),
  ];
}

function useCredits(): Matter[] {
  const pause = !useMay('billing:read');
  const [{ data }] = useQuery({ query: HomeBalance, pause });
  if (!data?.balance.is_low && data?.balance.balance !== 0) return [];
  const text = `${plural(data.balance.balance, 'credit')} left: add credits before texts are refused`;
  return [{ to: '/billing', kind: 'warn', word: 'Credits', text }];
}
