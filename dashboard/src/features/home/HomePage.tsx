// Home: the next step of the set-up, matters that need a person, the credits, and the outcome of the last texts.

import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { useMay, useRefresh, useThrottled, useUpdates, useViewer } from '../../graphql/index.ts';
import { capped, count, Failure, Icon, money, Notice, Page, plural, Skeleton } from '../../ui/index.ts';
import { Attention } from './Attention.tsx';
import styles from './home.module.css';
import { HomeBalance, HomeConversations, HomePageQuery } from './queries.ts';
import { Steps } from './Steps.tsx';
import { Traffic } from './Traffic.tsx';

const ENDLESS = 9999;

export function HomePage() {
  const { first_name } = useViewer();
  const mayReadTexts = useMay('messages:read');
  const [{ data, error }, retry] = useQuery({ query: HomePageQuery, requestPolicy: 'cache-and-network' });
  const status = data?.setup_status;
  const isReady = status?.steps.every(({ is_done, is_required }) => is_done || !is_required);
  return (
    <Page title={first_name ? `Hello, ${first_name}` : 'Home'}>
      <div className={styles.figures}>
        {useMay('billing:read') && <BalanceFigures />}
        {useMay('conversations:read') && <ConversationFigures />}
      </div>
      {error && <Failure error={error} retry={retry} />}
      {!status && !error && <Skeleton />}
      {status && !status.texts_reach_phones && (
        <Notice kind="warn">
          <Icon name="warning" />
          <span>
            Texts stay on this machine until a carrier is connected: the sandbox takes them, and no phone receives them.
          </span>
        </Notice>
      )}
      {status && <Attention />}
      {status && !isReady && <Steps steps={status.steps} />}
      {status && mayReadTexts && <Traffic />}
      {status && isReady && <Steps steps={status.steps} />}
    </Page>
  );
}

interface FigureProps {
  to: string;
  name: string;
  value: string;
  note: string;
}

function Figure({ to, name, value, note }: FigureProps) {
  return (
    <Link to={to} className={styles.figure}>
      <span>{name}</span>
      <strong>{value}</strong>
      <span>{note}</span>
    </Link>
  );
}

const NOT_YET = ['Credits', 'Credits last'];

function BalanceFigures() {
  const [{ data }] = useQuery({ query: HomeBalance, requestPolicy: 'cache-and-network' });
  if (!data) return NOT_YET.map((name) => <Figure key={name} to="/billing" name={name} value="…" note="&nbsp;" />);
  const { balance, rate, currency, daily_avg_send, estimated_days_left } = data.balance;
  const lasts = estimated_days_left >= ENDLESS ? 'Over a year' : plural(estimated_days_left, 'day');
  return (
    <>
      <Figure to="/billing" name="Credits" value={count(balance)} note={`worth ${money(balance * rate, currency)}`} />
      <Figure to="/billing" name="Credits last" value={lasts} note={`at ${count(daily_avg_send)} credits a day`} />
    </>
  );
}

function ConversationFigures() {
  const [{ data, ...state }, send] = useQuery({ query: HomeConversations, requestPolicy: 'cache-and-network' });
  const refresh = useThrottled(useRefresh(state, send));
  useUpdates((update) => {
    if (update === 'missed' || update.__typename === 'NewMessageUpdate') refresh();
  });
  const { unread, unassigned } = data?.conversation_counts ?? {};
  const read = unread === 0 ? 'everything is read' : 'with new texts';
  const assigned = unassigned === 0 ? 'all are assigned' : 'open conversations';
  return (
    <>
      <Figure to="/inbox/unread" name="Unread" value={unread === undefined ? '…' : capped(unread)} note={read} />
      <Figure
        to="/inbox/unassigned"
        name="Unassigned"
        value={unassigned === undefined ? '…' : capped(unassigned)}
        note={assigned}
      />
    </>
  );
}
