// The price of a part of a text, by destination.

import { Card, count, plural, Table, unitPrice } from '../../ui/index.ts';
import styles from './billing.module.css';
import type { Billing } from './queries.ts';

interface PricesProps {
  tariff: Billing['tariff'];
  rate: number;
  currency: string;
}

export function Prices({ tariff, rate, currency }: PricesProps) {
  const { destinations, other_destinations, generated_copy } = tariff;
  const codes = Map.groupBy(destinations, ({ segment }) => segment);
  const rows = [...codes]
    .sort(([one], [other]) => one - other)
    .map(([credits, found]) => ({ credits, to: found.map(({ calling_code }) => `+${calling_code}`).join(', ') }));
  return (
    <Card title="Prices">
      <p className={styles.soft}>
        A text costs the price of its destination for each of its parts, and is refunded if it fails. Texts that arrive
        cost nothing. A text that the AI writes costs {plural(generated_copy, 'credit')}.
      </p>
      <Table
        label="Credits by destination"
        rows={[...rows, { credits: other_destinations, to: 'Everywhere else' }]}
        keyOf={({ to }) => to}
        columns={[
          { title: 'Credits a part', isNumber: true, cell: ({ credits }) => count(credits) },
          { title: 'In money', isNumber: true, cell: ({ credits }) => unitPrice(credits * rate, currency) },
          { title: 'To numbers that begin with', isHead: true, cell: ({ to }) => to },
        ]}
      />
    </Card>
  );
}
