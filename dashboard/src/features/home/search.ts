// The period and the figure of the chart in the address: an unknown value becomes the default.

export const PERIODS = ['day', 'week', 'month', 'quarter'] as const;
export const METRICS = ['sent', 'delivered', 'failed', 'failure_rate', 'replies', 'opt_outs'] as const;

export type HomePeriod = (typeof PERIODS)[number];
export type Metric = (typeof METRICS)[number];

export interface HomeSearch {
  period?: HomePeriod;
  metric?: Metric;
}

export function validated(given: Record<string, unknown>): HomeSearch {
  return {
    period: PERIODS.find((each) => each === given.period),
    metric: METRICS.find((each) => each === given.metric),
  };
}
