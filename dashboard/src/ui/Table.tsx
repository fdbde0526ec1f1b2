// A table of a few hundred rows. On a phone its rows are cards: each value stands beside its column's title.

import type { ReactNode } from 'react';
import styles from './table.module.css';

const NONE = '–';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  isNumber?: boolean;
  /** Whether the cell heads the card of its row; else the first one does. */
  isHead?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string | number;
  /** Whether the columns fit beside one another on a phone too. */
  isCompact?: boolean;
}

// The roles are named, for a browser may leave them out when the styles make blocks of the rows.
export function Table<Row>({ label, columns, rows, keyOf, isCompact }: TableProps<Row>) {
  const head = columns.find(({ isHead }) => isHead) ?? columns[0];
  return (
    <section className={`${styles.scroll} ${isCompact ? '' : styles.wide}`} aria-label={label} tabIndex={0}>
      <table className={styles.table} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" role="columnheader" className={isNumber ? styles.number : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map((column) => (
                <Cell key={column.title} column={column} value={column.cell(row)} isHead={column === head} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface CellProps {
  column: Pick<Column<never>, 'title' | 'isNumber'>;
  value: ReactNode;
  isHead: boolean;
}

function Cell({ column: { title, isNumber }, value, isHead }: CellProps) {
  const names = [isNumber && styles.number, isHead && styles.head, value === NONE && styles.none];
  return (
    <td role="cell" data-title={title} className={names.filter(Boolean).join(' ') || undefined}>
      {value}
    </td>
  );
}
