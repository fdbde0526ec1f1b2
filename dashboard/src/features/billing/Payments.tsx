// The payments of the account, and the payment method that the provider keeps.

import { Button } from '@mantine/core';
import { useQuery } from 'urql';
import { useMay, usePages, useUpdates } from '../../graphql/index.ts';
import {
  Badge,
  Card,
  count,
  Empty,
  Failure,
  type Kind,
  More,
  Refused,
  Skeleton,
  Table,
  Time,
  useAct,
  words,
} from '../../ui/index.ts';
import { priceOf } from './model.ts';
import { OpenPortal } from './mutations.ts';
import { BillingMethod, type Payment, PaymentPages, paymentsListing } from './queries.ts';

const KINDS: Record<Payment['status'], Kind> = {
  requested: 'warn',
  pending: 'warn',
  paid: 'good',
  refunded: 'plain',
  expired: 'plain',
  disputed: 'bad',
};

export function Payments({ isOnline }: { isOnline: boolean }) {
  const pages = usePages(paymentsListing, {});
  useUpdates((update) => {
    if (update === 'missed') pages.refresh();
  });
  return (
    <Card title="Payments">
      {isOnline && <Method />}
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton rows={3} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && <Empty>No payment yet.</Empty>}
      {pages.rows.length > 0 && <Rows rows={pages.rows} />}
      <More pages={pages} />
    </Card>
  );
}

function Rows({ rows }: { rows: Payment[] }) {
  const pause = !useMay('billing:write');
  const [{ data }, again] = useQuery({ query: PaymentPages, pause, requestPolicy: 'cache-and-network' });
  useUpdates((update) => {
    if (update === 'missed' && !pause) again({ requestPolicy: 'network-only' });
  });
  const urls = new Map(data?.payments.nodes.map(({ id, url }) => [id, url]));
  return (
    <Table
      label="Payments of the account"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: 'When', cell: ({ created_at }) => <Time at={created_at} full /> },
        { title: 'For', isHead: true, cell: ({ description }) => description },
        { title: 'State', cell: ({ status }) => <Badge kind={KINDS[status]}>{words(status)}</Badge> },
        { title: 'Credits', isNumber: true, cell: ({ credits }) => count(credits) },
        {
          title: 'Amount',
          isNumber: true,
          cell: priceOf,
        },
        { title: 'Page', cell: ({ id }) => <PayLink url={urls.get(id)} /> },
      ]}
    />
  );
}

function PayLink({ url }: { url?: string | null }) {
  if (!url) return null;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      Pay
    </a>
  );
}

function Method() {
  const [{ data, error }, again] = useQuery({ query: BillingMethod, requestPolicy: 'cache-and-network' });
  const mayPay = useMay('billing:write');
  const portal = useAct(OpenPortal);
  const method = data?.payment_method;
  if (error && !data) return <Failure error={error} retry={() => again({ requestPolicy: 'network-only' })} />;
  if (!method) return <Skeleton rows={1} />;
  const { is_configured, kind, brand, last_four, expires_month, expires_year } = method;
  const card = [
    brand ?? kind,
    last_four && `ending in ${last_four}`,
    expires_month && `until ${expires_month}/${expires_year}`,
  ];
  const open = async () => {
    const made = await portal.run({});
    if (made) window.location.assign(made.open_payment_portal.url);
  };
  return (
    <>
      <p>
        {is_configured
          ? `Paid by ${card.filter(Boolean).join(', ')}.`
          : 'No payment method is saved: the first payment saves one.'}{' '}
        {mayPay && is_configured && (
          <Button size="compact-sm" variant="default" loading={portal.isBusy} onClick={() => void open()}>
            Change it, and see invoices
          </Button>
        )}
      </p>
      {portal.refusal && <Refused refusal={portal.refusal} />}
    </>
  );
}
