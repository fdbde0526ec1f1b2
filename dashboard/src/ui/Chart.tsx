// A chart of counts by period: a figure whose caption is the finding, with the same numbers as a table.

import { lazy, type ReactNode, Suspense, useState } from 'react';
import styles from './chart.module.css';
import { type Period, type Series, spanOf, tickOf } from './chart.ts';
import { Table } from './Table.tsx';
import { count } from './values.tsx';

const Plot = lazy(() => {
  repairLanguage();
  return import('./Plot.tsx').catch(() => ({ default: Undrawn }));
});

/** Give the library of the drawing a language that it can read: a browser may have none, such as en-US@posix. */
function repairLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
  }
}

export interface ChartProps {
  /** The finding, in words. */
  finding: ReactNode;
  /** The beginnings of the periods, the earliest first. */
  starts: string[];
  period: Period;
  /** At most four. */
  series: Series[];
  shape?: 'line' | 'bars';
  format?: (value: number) => string;
  /** The zone of the periods, where it is not that of the viewer. */
  timeZone?: string;
}

export function Chart({ finding, starts, period, series, shape = 'line', format = count, timeZone }: ChartProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const at = pointed ?? starts.length - 1;
  const spans = starts.map((start) => spanOf(period, start, timeZone));
  const ticks = starts.map((start) => tickOf(period, start, timeZone));
  const shown = (values: Series['values'], index: number) => {
    const value = values[index];
    return value === null || value === undefined ? '–' : format(value);
  };
  return (
    <figure className={styles.figure}>
      <figcaption>{finding}</figcaption>
      <p className={styles.readout} aria-hidden="true">
        <strong>{spans[at]}</strong> {series.map(({ label, values }) => `${label}: ${shown(values, at)}`).join(' · ')}
      </p>
      <div className={styles.plot} aria-hidden="true">
        <Suspense>
          <Plot ticks={ticks} series={series} shape={shape} format={format} onPoint={setPointed} />
        </Suspense>
      </div>
      <details className={styles.table}>
        <summary>Show as table</summary>
        <Table
          label="The numbers of the chart"
          isCompact
          rows={spans.map((_, index) => index).reverse()}
          keyOf={(index) => starts[index] ?? index}
          columns={[
            { title: 'Period', cell: (index) => spans[index] },
            ...series.map(({ label, values }) => ({
              title: label,
              isNumber: true,
              cell: (index: number) => shown(values, index),
            })),
          ]}
        />
      </details>
    </figure>
  );
}

function Undrawn() {
  return <p>This browser cannot draw the chart. Its numbers are in the table.</p>;
}
