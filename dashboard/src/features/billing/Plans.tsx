// Plans of monthly credits: those on offer, and those that the account pays.

import { Button } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../graphql/index.ts';
import {
  Badge,
  Card,
  ConfirmButton,
  type Kind,
  Notice,
  plural,
  Refused,
  Table,
  Time,
  useAct,
  words,
} from '../../ui/index.ts';
import styles from './billing.module.css';
import { priceOf } from './model.ts';
import { EndPlan, StartPlan } from './mutations.ts';
import type { Billing } from './queries.ts';

type Offered = Billing['billing_status']['plans'][number];
type Subscription = Billing['plan_subscriptions'][number];

const KINDS: Record<Subscription['status'], Kind> = { active: 'good', past_due: 'bad', ended: 'plain' };

interface PlansProps {
  offered: Offered[];
  subscriptions: Subscription[];
  reload: () => void;
}

export function Plans({ offered, subscriptions, reload }: PlansProps) {
  const mayPay = useMay('billing:write');
  const start = useAct(StartPlan);
  const [page, setPage] = useState<{ url: string; name: string }>();
  const begin = async (name: string) => {
    const made = await start.run({ plan: name });
    if (made) setPage({ url: made.start_plan.url, name });
  };
  return (
    <Card title="Plans">
      {subscriptions.length > 0 && <Subscriptions rows={subscriptions} reload={reload} />}
      <ul className={styles.plans}>
        {offered.map(({ name, credits, ...price }) => (
          <li key={name}>
            <strong>{name}</strong>
            <span>
              {plural(credits, 'credit')} each month for {priceOf(price)}
            </span>
            {mayPay && (
              <Button
                size="xs"
                variant="default"
                aria-label={`Start the plan ${name}`}
                loading={start.isBusy}
                onClick={() => void begin(name)}
              >
                Start
              </Button>
            )}
          </li>
        ))}
      </ul>
      {start.refusal && <Refused refusal={start.refusal} />}
      {page && (
        <div role="status">
          <Notice kind="good">
            <span>
              {page.name} begins once its first month is paid.{' '}
              <a href={page.url} target="_blank" rel="noopener noreferrer">
                Go to the payment page
              </a>
            </span>
          </Notice>
        </div>
      )}
    </Card>
  );
}

function Subscriptions({ rows, reload }: { rows: Subscription[]; reload: () => void }) {
  const mayPay = useMay('billing:write');
  const end = useAct(EndPlan);
  return (
    <Table
      label="Plans of the account"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Plan', cell: ({ plan }) => plan },
        { title: 'State', cell: ({ status }) => <Badge kind={KINDS[status]}>{words(status)}</Badge> },
        {
          title: 'Each month',
          cell: ({ credits, ...price }) => `${plural(credits, 'credit')}, ${priceOf(price)}`,
        },
        {
          title: 'Paid until',
          cell: ({ period_end, is_ending }) => (
            <>
              <Time at={period_end} full />
              {is_ending && ', then it ends'}
            </>
          ),
        },
        {
          title: 'Action',
          cell: ({ id, plan, status, is_ending }) =>
            mayPay && status !== 'ended' && !is_ending ? (
              <ConfirmButton
                label="End"
                name={`End the plan ${plan}`}
                title={`End the plan ${plan}?`}
                act={`End ${plan}`}
                size="xs"
                state={end}
                run={() => end.run({ id })}
                onDone={reload}
              >
                It ends with the period that was paid. Credits that were added stay.
              </ConfirmButton>
            ) : null,
        },
      ]}
    />
  );
}
