// The purchase of credits: online on a page of the payment provider, else a request to the operator.

import { Button, NumberInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { changed } from '../../graphql/index.ts';
import { Card, count, money, Notice, onceOf, plural, Refused, useAct } from '../../ui/index.ts';
import styles from './billing.module.css';
import { TopUp } from './mutations.ts';
import { priceOf } from './model.ts';
import type { Billing } from './queries.ts';

const USUAL = [1_000, 5_000, 20_000];

interface TopUpCardProps {
  status: Billing['billing_status'];
  rate: number;
  currency: string;
}

export function TopUpCard({ status, rate, currency }: TopUpCardProps) {
  const [credits, setCredits] = useState<number | string>(USUAL[1] ?? '');
  const key = useRef('');
  const act = useAct(TopUp);
  const [bought, setBought] = useState<Purchase>();
  const wanted = Number(credits) || 0;
  const buy = async () => {
    key.current ||= crypto.randomUUID();
    const made = await act.run({ credits: wanted, idempotency_key: key.current });
    if (!made) return;
    key.current = '';
    setBought(made.top_up);
    changed();
  };
  const price = money(wanted * rate, currency);
  const verb = status.is_online ? 'Buy' : 'Request';
  return (
    <Card title="Add credits">
      {!status.is_online && <p>{status.how_to}</p>}
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void buy();
        }}
      >
        <div className={styles.amounts}>
          {USUAL.map((each) => (
            <Button key={each} size="xs" variant="default" onClick={() => change(each)}>
              {count(each)}
            </Button>
          ))}
        </div>
        <NumberInput
          label="Credits"
          min={1}
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator=","
          hideControls
          value={credits}
          onChange={change}
        />
        <Button type="submit" onClick={onceOf()} loading={act.isBusy} disabled={wanted < 1}>
          {`${verb} ${plural(wanted, 'credit')} for ${price}`}
        </Button>
      </form>
      {act.refusal && <Refused refusal={act.refusal} />}
      {bought && <Bought payment={bought} />}
    </Card>
  );

  /** Another number is another purchase: a repetition of the last one would not be it. */
  function change(value: number | string) {
    key.current = '';
    setCredits(value);
  }
}

interface Purchase {
  credits: number;
  amount: number;
  decimals: number;
  currency: string;
  url: string | null;
}

function Bought({ payment: { credits, url, ...paid } }: { payment: Purchase }) {
  const price = priceOf(paid);
  return (
    <div role="status">
      <Notice kind="good">
        {url ? (
          <span>
            {plural(credits, 'credit')} are added once {price} are paid.{' '}
            <a href={url} target="_blank" rel="noopener noreferrer">
              Go to the payment page
            </a>
          </span>
        ) : (
          <span>
            {plural(credits, 'credit')} for {price} are requested. The operator adds them once the money has arrived.
          </span>
        )}
      </Notice>
    </div>
  );
}
