// The outcome of the texts by day or hour, beside the period before.

import { SegmentedControl } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Chart } from '../../ui/Chart.tsx';
import type { Series } from '../../ui/chart.ts';
import { Card, Failure, Skeleton, zoneOf } from '../../ui/index.ts';
import styles from './home.module.css';
import { compared, findingOf, METRIC_WORDS, PERIOD_WORDS, type Split, shown, split, valueOf } from './model.ts';
import { HomeTexts } from './queries.ts';
import { type HomeSearch, METRICS, type Metric, PERIODS } from './search.ts';

const route = getRouteApi('/');

export function Traffic() {
  const { period = 'week', metric = 'sent' } = route.useSearch();
  const navigate = useNavigate();
  const words = PERIOD_WORDS[period];
  const time_zone = zoneOf();
  const [{ data, error }, retry] = useQuery({
    query: HomeTexts,
    variables: { days: 2 * words.days, bucket: words.bucket, time_zone },
    requestPolicy: 'cache-and-network',
  });
  const choose = (search: HomeSearch) =>
    void navigate({ to: '/', search: { period, metric, ...search }, replace: true });
  const parts = data && split(data.delivery_stats, words);
  return (
    <Card
      title="Texts"
      action={
        <SegmentedControl
          size="xs"
          aria-label="Period"
          className={styles.period}
          value={period}
          onChange={(value) => choose({ period: PERIODS.find((each) => each === value) })}
          data={PERIODS.map((value) => ({ value, label: PERIOD_WORDS[value].label }))}
        />
      }
    >
      {error && <Failure error={error} retry={retry} />}
      {!parts && !error && <Skeleton rows={6} />}
      {parts && (
        <>
          <Metrics parts={parts} chosen={metric} onChoose={(each) => choose({ metric: each })} />
          <Chart
            finding={findingOf(metric, valueOf(metric, parts.current), valueOf(metric, compared(parts)), words)}
            starts={parts.starts}
            period={words.bucket}
            series={seriesOf(metric, parts)}
            format={(value) => shown(metric, value)}
          />
        </>
      )}
    </Card>
  );
}

function seriesOf(metric: Metric, { current, before }: Split): Series[] {
  const { label, color } = METRIC_WORDS[metric];
  const valuesOf = (points: Split['current']) => points.map((point) => (point ? valueOf(metric, [point]) : null));
  const values = valuesOf(before).slice(0, current.length);
  return [
    { label, color, values: valuesOf(current) },
    { label: 'Before', values, isBefore: true },
  ];
}

interface MetricsProps {
  parts: Split;
  chosen: Metric;
  onChoose: (metric: Metric) => void;
}

function Metrics({ parts, chosen, onChoose }: MetricsProps) {
  return (
    <fieldset className={styles.metrics} aria-label="Figure of the chart">
      {METRICS.map((metric) => (
        <button key={metric} type="button" aria-pressed={metric === chosen} onClick={() => onChoose(metric)}>
          <span>{METRIC_WORDS[metric].label}</span>
          <strong>{shown(metric, valueOf(metric, parts.current))}</strong>
          <span>before: {shown(metric, valueOf(metric, compared(parts)))}</span>
        </button>
      ))}
    </fieldset>
  );
}
