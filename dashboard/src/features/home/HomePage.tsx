// Home: what to set up next, the credits, and what became of the last texts.

import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { type ResultOf, useMay, useViewer } from '../../graphql/index.ts';
import { Badge, Card, count, Failure, Icon, money, Notice, Page, Skeleton, words } from '../../ui/index.ts';
import styles from './home.module.css';
import { HomeBalance, HomePageQuery, HomeTotals } from './queries.ts';

const DAYS = 7;

const PLACES: Record<string, string> = {
  company_name: '/settings/company',
  support_contact: '/settings/company',
  quiet_hours: '/settings/company',
  carrier: '/numbers',
  phone_number: '/numbers',
  credits: '/billing',
  payments: '/billing',
  webhook: '/settings/keys',
};

export function HomePage() {
  const { first_name } = useViewer();
  const [{ data, error }, retry] = useQuery({ query: HomePageQuery, requestPolicy: 'cache-and-network' });
  return (
    <Page title={first_name ? `Hello, ${first_name}` : 'Home'}>
      {error && <Failure error={error} retry={retry} />}
      {!data && !error && <Skeleton />}
      {data && !data.setup_status.texts_reach_phones && (
        <Notice kind="warn">
          <Icon name="warning" />
          Texts stay on this machine until a carrier is connected: the sandbox takes them, and no phone receives them.
        </Notice>
      )}
      <div className={styles.figures}>
        {useMay('billing:read') && <BalanceFigures />}
        {useMay('messages:read') && <SendFigures />}
      </div>
      {data && <Steps steps={data.setup_status.steps} />}
    </Page>
  );
}

function Figure({ name, value, note }: { name: string; value: string; note?: string }) {
  return (
    <div className={styles.figure}>
      <span>{name}</span>
      <strong>{value}</strong>
      {note && <span>{note}</span>}
    </div>
  );
}

function BalanceFigures() {
  const [{ data }] = useQuery({ query: HomeBalance, requestPolicy: 'cache-and-network' });
  if (!data) return <Figure name="Credits" value="…" />;
  const { balance, rate, currency, daily_avg_send, estimated_days_left } = data.balance;
  const lasts = estimated_days_left >= 9999 ? 'More than a year' : `${count(estimated_days_left)} days`;
  return (
    <>
      <Figure name="Credits" value={count(balance)} note={`worth ${money(balance * rate, currency)}`} />
      <Figure name="Credits left for" value={lasts} note={`at ${count(daily_avg_send)} credits a day`} />
    </>
  );
}

function SendFigures() {
  const [{ data }] = useQuery({ query: HomeTotals, variables: { days: DAYS }, requestPolicy: 'cache-and-network' });
  const total = data?.delivery_rates?.[0];
  if (!total) return <Figure name={`Texts, ${DAYS} days`} value={data ? '0' : '…'} />;
  const rate = total.rate === null ? 'no reports yet' : `${(total.rate * 100).toFixed(1)} % delivered`;
  const failed = total.failed ? `${count(total.failed)} failed` : 'none failed';
  return <Figure name={`Texts, ${DAYS} days`} value={count(total.sent)} note={`${rate}, ${failed}`} />;
}

type SetupSteps = ResultOf<typeof HomePageQuery>['setup_status'];

function Steps({ steps }: { steps: SetupSteps['steps'] }) {
  const maySet = useMay('account:write');
  return (
    <Card title="Set-up">
      <ol className={styles.steps}>
        {steps.map(({ name, is_done, is_required, text }) => (
          <li key={name} className={is_done ? styles.done : undefined}>
            <span className={styles.mark} aria-hidden="true">
              {is_done && <Icon name="check" size={14} />}
            </span>
            <div style={{ flex: 1 }}>
              <strong>{words(name)}</strong>{' '}
              {is_done ? <Badge kind="good">Done</Badge> : !is_required && <Badge>Optional</Badge>}
              <div>{text}</div>
            </div>
            {!is_done && maySet && PLACES[name] && <Link to={PLACES[name]}>Set it up</Link>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
