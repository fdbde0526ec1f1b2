// Bars of HTML: a histogram with a row for each group, and one bar of all parts with its legend.

import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import styles from './bars.module.css';
import { Table } from './Table.tsx';
import { count } from './values.tsx';

const SHAPES = { one: '■', good: '●', doing: '◆', bad: '■', waiting: '◇', plain: '○' };

/** The look of a part: a colour, a pattern and a shape, so that none of them stands alone. */
export type Tone = keyof typeof SHAPES;

export interface Series {
  name: string;
  tone: Tone;
}

export interface BarRow {
  key: string;
  /** The group in words, as the table names it. */
  name: string;
  label?: ReactNode;
  /** One value for each series. */
  values: number[];
  /** What stands at the end of the bar in place of the sum. */
  note?: ReactNode;
}

interface BarsProps {
  label: string;
  /** The finding in a sentence. */
  caption: ReactNode;
  /** The head of the column of groups. */
  group: string;
  series: Series[];
  rows: BarRow[];
}

export function Bars({ label, caption, group, series, rows }: BarsProps) {
  const [isTable, setTable] = useState(false);
  const most = Math.max(1, ...rows.map(sumOf));
  return (
    <figure className={styles.figure} aria-label={label}>
      <figcaption className={styles.caption}>
        <span>{caption}</span>
        <Button size="compact-xs" variant="subtle" onClick={() => setTable(!isTable)}>
          {isTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </figcaption>
      {isTable ? (
        <Table
          label={label}
          rows={rows}
          keyOf={({ key }) => key}
          columns={[
            { title: group, cell: ({ name, label: shown }) => shown ?? name },
            ...series.map(({ name }, index) => ({
              title: name,
              isNumber: true,
              cell: ({ values }: BarRow) => count(values[index] ?? 0),
            })),
          ]}
        />
      ) : (
        <>
          {series.length > 1 && <Keys series={series} />}
          <ol className={styles.rows}>
            {rows.map((row) => (
              <Row key={row.key} row={row} series={series} most={most} />
            ))}
          </ol>
        </>
      )}
    </figure>
  );
}

function Row({ row, series, most }: { row: BarRow; series: Series[]; most: number }) {
  const parts = series.map(({ name, tone }, index) => ({ name, tone, value: row.values[index] ?? 0 }));
  const spoken = parts
    .filter(({ value }) => value > 0)
    .map(({ name, value }) => `${count(value)} ${name.toLowerCase()}`);
  return (
    <li className={styles.row}>
      <span className={styles.name}>{row.label ?? row.name}</span>
      <span className={styles.track} aria-hidden="true">
        <Parts parts={parts} total={most} />
      </span>
      <span className={styles.value}>
        {row.note ?? count(sumOf(row))}
        {series.length > 1 && <span className={styles.spoken}>: {spoken.join(', ')}</span>}
      </span>
    </li>
  );
}

function Keys({ series }: { series: Series[] }) {
  return (
    <ul className={styles.keys} aria-hidden="true">
      {series.map(({ name, tone }) => (
        <li key={name}>
          <Mark tone={tone} /> {name}
        </li>
      ))}
    </ul>
  );
}

export interface Part {
  key: string;
  name: string;
  tone: Tone;
  value: number;
  label?: ReactNode;
}

/** One bar of parts that make up a whole, with a legend of words, shapes and figures. */
export function Progress({ label, parts }: { label: string; parts: Part[] }) {
  const total = Math.max(
    1,
    parts.reduce((sum, { value }) => sum + value, 0),
  );
  return (
    <div className={styles.figure}>
      <div className={`${styles.track} ${styles.whole}`} aria-hidden="true">
        <Parts parts={parts} total={total} />
      </div>
      <ul className={styles.legend} aria-label={label}>
        {parts.map(({ key, name, tone, value, label: shown }) => (
          <li key={key}>
            <Mark tone={tone} />
            <strong>{count(value)}</strong>
            <span>{shown ?? name}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Parts({ parts, total }: { parts: { name: string; tone: Tone; value: number }[]; total: number }) {
  return parts
    .filter(({ value }) => value > 0)
    .map(({ name, tone, value }) => (
      <span
        key={name}
        className={`${styles.part} ${styles[tone]}`}
        style={{ width: `${Math.min(100, (value / total) * 100)}%` }}
      />
    ));
}

export function Mark({ tone }: { tone: Tone }) {
  return (
    <span aria-hidden="true" className={`${styles.mark} ${styles[`${tone}Mark`]}`}>
      {SHAPES[tone]}
    </span>
  );
}

function sumOf({ values }: BarRow): number {
  return values.reduce((sum, value) => sum + value, 0);
}
