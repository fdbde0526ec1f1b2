// The deliveries of a webhook, each with its attempts: what was posted, and what was answered.

import { Accordion, Button, Checkbox } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import type { Pages } from '../../graphql/index.ts';
import { Badge, Empty, Failure, type Kind, Refused, Skeleton, Time, useAct, words } from '../../ui/index.ts';
import { Replay } from './mutations.ts';
import type { Delivery } from './queries.ts';
import { Chosen } from './ReplayChosen.tsx';
import styles from './webhooks.module.css';

const KINDS: Record<Delivery['status'], Kind> = {
  pending: 'warn',
  delivered: 'good',
  failed: 'bad',
  skipped: 'plain',
  canceled: 'plain',
};
const AGAIN = 2_000;

export function Deliveries({ pages }: { pages: Pages<Delivery> }) {
  const isWaiting = pages.rows.some(({ status }) => status === 'pending');
  const refresh = useEffectEvent(() => pages.refresh());
  useEffect(() => {
    if (!isWaiting) return;
    const timer = window.setInterval(() => refresh(), AGAIN);
    return () => window.clearInterval(timer);
  }, [isWaiting]);
  const [chosen, choose] = useState<number[]>([]);
  const done = () => {
    choose([]);
    pages.refresh();
  };
  const failure = pages.error && <Failure error={pages.error} retry={pages.refresh} />;
  if (failure && pages.rows.length === 0) return failure;
  if (pages.rows.length === 0)
    return pages.isLoading ? <Skeleton /> : <Empty>There are no such deliveries. A test event makes one.</Empty>;
  return (
    <>
      {failure}
      {chosen.length > 0 && <Chosen ids={chosen} onClear={() => choose([])} onDone={done} />}
      <Accordion variant="contained" order={3} classNames={{ item: styles.item }}>
        {pages.rows.map((delivery) => (
          <Item
            key={delivery.id}
            delivery={delivery}
            isChosen={chosen.includes(delivery.id)}
            onChoose={(isChosen) =>
              choose((old) => (isChosen ? [...old, delivery.id] : old.filter((id) => id !== delivery.id)))
            }
            onChanged={pages.refresh}
          />
        ))}
      </Accordion>
      {pages.hasMore && (
        <Button variant="subtle" fullWidth onClick={pages.more} loading={pages.isLoading}>
          Earlier deliveries
        </Button>
      )}
    </>
  );
}

interface ItemProps {
  delivery: Delivery;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
  onChanged: () => void;
}

function Item({ delivery, isChosen, onChoose, onChanged }: ItemProps) {
  const { id, event, status, is_test, created_at, attempts, next_attempt_at } = delivery;
  const last = attempts.at(-1);
  return (
    <Accordion.Item value={String(id)}>
      <div className={styles.row}>
        <Checkbox
          size="xs"
          aria-label={`Choose delivery ${id}`}
          checked={isChosen}
          onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
        />
        <Accordion.Control>
          <span className={styles.line}>
            <Badge kind={KINDS[status]}>{words(status)}</Badge>
            <strong>{event}</strong>
            {is_test && <Badge>Test</Badge>}
            {last && <span>{last.status ?? words(last.error ?? 'no answer')}</span>}
            <span className={styles.time}>
              {next_attempt_at && (
                <>
                  next try <Time at={next_attempt_at} /> ·{' '}
                </>
              )}
              <Time at={created_at} full />
            </span>
          </span>
        </Accordion.Control>
      </div>
      <Accordion.Panel>
        <Detail delivery={delivery} onChanged={onChanged} />
      </Accordion.Panel>
    </Accordion.Item>
  );
}

function Detail({ delivery, onChanged }: { delivery: Delivery; onChanged: () => void }) {
  const act = useAct(Replay);
  const { id, attempts, body, webhook_id, status, contact_id } = delivery;
  const again = async () => {
    if (await act.run({ id })) onChanged();
  };
  return (
    <div className={styles.detail}>
      <div>
        <h4>Posted</h4>
        <p>webhook-id {webhook_id}</p>
        {contact_id !== null && (
          <p>
            <Link from="/settings/keys/webhooks/$id" search={(old) => ({ ...old, contact: contact_id })}>
              Only deliveries about this contact
            </Link>
          </p>
        )}
        <pre className={styles.code}>{body ?? 'The body is not kept any more.'}</pre>
        {status !== 'pending' && (
          <Button size="xs" variant="default" loading={act.isBusy} onClick={() => void again()}>
            Send it again
          </Button>
        )}
        {act.refusal && <Refused refusal={act.refusal} />}
      </div>
      <div>
        <h4>Answered</h4>
        {attempts.length === 0 && <p>No attempt yet.</p>}
        {attempts.map(({ number, status: code, error, seconds, body: answer, attempted_at }) => (
          <div key={number}>
            <p>
              Attempt {number}: {code ?? words(error ?? 'no answer')} in {Math.round(seconds * 1000)} ms,{' '}
              <Time at={attempted_at} full />
            </p>
            {answer && <pre className={styles.code}>{answer}</pre>}
          </div>
        ))}
      </div>
    </div>
  );
}
