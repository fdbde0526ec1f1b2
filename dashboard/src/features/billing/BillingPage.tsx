// Billing: the credits and how to add some, what was spent, plans, payments and prices.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Card, count, Facts, Failure, money, Notice, Page, plural, Skeleton, unitPrice } from '../../ui/index.ts';
import styles from './billing.module.css';
import { Payments } from './Payments.tsx';
import { Plans } from './Plans.tsx';
import { Prices } from './Prices.tsx';
import { type Billing, BillingPageQuery } from './queries.ts';
import { Spending } from './Spending.tsx';
import { Threshold } from './Threshold.tsx';
import { TopUpCard } from './TopUpCard.tsx';

const ENDLESS = 9999;

export function BillingPage() {
  const [{ data, error }, again] = useQuery({ query: BillingPageQuery, requestPolicy: 'cache-and-network' });
  return (
    <Page
      title="Billing"
      actions={
        <Button variant="default" renderRoot={(props) => <Link to="/billing/transactions" {...props} />}>
          All transactions
        </Button>
      }
    >
      {error && <Failure error={error} retry={again} />}
      {!data && !error && <Skeleton rows={4} />}
      {data && <Overview billing={data} reload={() => again({ requestPolicy: 'network-only' })} />}
    </Page>
  );
}

function Overview({ billing, reload }: { billing: Billing; reload: () => void }) {
  const mayPay = useMay('billing:write');
  const { balance, billing_status: status, tariff, plan_subscriptions: subscriptions } = billing;
  return (
    <>
      <State status={status} />
      <div className={styles.columns}>
        <Card title="Credits">
          <Credits balance={balance} />
          {mayPay && <Threshold value={balance.low_balance} onSaved={reload} />}
        </Card>
        {mayPay && <TopUpCard status={status} rate={balance.rate} currency={balance.currency} />}
      </div>
      <Spending />
      {(status.plans.length > 0 || subscriptions.length > 0) && (
        <Plans offered={status.plans} subscriptions={subscriptions} reload={reload} />
      )}
      <Payments isOnline={status.is_online} />
      <Prices tariff={tariff} rate={balance.rate} currency={balance.currency} />
    </>
  );
}

const STATES: Record<string, { kind: 'warn' | 'bad'; text: string } | undefined> = {
  low: { kind: 'warn', text: 'The balance is below the threshold of the warning.' },
  empty: { kind: 'bad', text: 'No credits are left: texts are refused until some are added.' },
  overdrawn: {
    kind: 'bad',
    text: 'A refunded or disputed payment took the balance below zero: texts are refused until credits are added.',
  },
};

function State({ status }: { status: Billing['billing_status'] }) {
  const found = STATES[status.state];
  return found ? <Notice kind={found.kind}>{found.text}</Notice> : null;
}

function Credits({ balance: held }: { balance: Billing['balance'] }) {
  const { balance, rate, currency, daily_avg_send, estimated_days_left, low_balance } = held;
  const days = estimated_days_left >= ENDLESS ? 'more than a year' : plural(estimated_days_left, 'day');
  return (
    <>
      <p className={styles.held}>{count(balance)}</p>
      <Facts
        rows={[
          ['Worth', `${money(balance * rate, currency)}, at ${unitPrice(rate, currency)} a credit`],
          ['Left for', `${days}, at ${count(daily_avg_send)} a day`],
          ['Warning', low_balance === null ? 'none' : `below ${plural(low_balance, 'credit')}`],
        ]}
      />
    </>
  );
}
