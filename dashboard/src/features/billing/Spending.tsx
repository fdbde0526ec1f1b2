// The spending by day, week or month, and by kind.

import { SegmentedControl } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Chart } from '../../ui/Chart.tsx';
import { Card, Failure, Skeleton } from '../../ui/index.ts';
import styles from './billing.module.css';
import { SPANS, spentIn } from './model.ts';
import { BillingSpend } from './queries.ts';
import { GROUPS } from './search.ts';

const route = getRouteApi('/billing');

export function Spending() {
  const { by = 'day' } = route.useSearch();
  const navigate = useNavigate();
  const { days, during } = SPANS[by];
  const [{ data, error }, retry] = useQuery({
    query: BillingSpend,
    variables: { days, group_by: by },
    requestPolicy: 'cache-and-network',
  });
  return (
    <Card
      title="Spending"
      action={
        <SegmentedControl
          size="xs"
          aria-label="Grouping"
          className={styles.grouping}
          value={by}
          onChange={(value) =>
            void navigate({ to: '/billing', search: { by: GROUPS.find((each) => each === value) }, replace: true })
          }
          data={GROUPS.map((value) => ({ value, label: SPANS[value].label }))}
        />
      }
    >
      {error && <Failure error={error} retry={retry} />}
      {!data && !error && <Skeleton rows={6} />}
      {data && (
        <Chart
          finding={spentIn(data, during)}
          starts={data.spend_history.points.map(({ start }) => start)}
          period={by}
          shape="bars"
          timeZone="UTC"
          series={[{ label: 'Spent', values: data.spend_history.points.map(({ spent }) => spent) }]}
        />
      )}
      <p className={styles.soft}>Days are days in UTC. Refunds of texts that failed are taken off.</p>
    </Card>
  );
}
