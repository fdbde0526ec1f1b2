// The rows of the contacts that are in view: a million of them scroll as ten do.

import { Checkbox } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { Pages } from '../../graphql/index.ts';
import { Badge, Time, words } from '../../ui/index.ts';
import styles from './contacts.module.css';
import type { ContactItem } from './queries.ts';

const ROW = 40;
const NEAR_END = 40;

interface ContactGridProps {
  pages: Pages<ContactItem>;
  chosen: ReadonlySet<number>;
  onChoose: (chosen: ReadonlySet<number>) => void;
}

export function ContactGrid({ pages, chosen, onChoose }: ContactGridProps) {
  const box = useRef<HTMLDivElement>(null);
  const { rows, hasMore } = pages;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const more = useEffectEvent(pages.more);
  useEffect(() => {
    if (last >= rows.length - NEAR_END) more();
  }, [last, rows.length]);
  const isAll = rows.every(({ id }) => chosen.has(id));
  const chooseAll = () => onChoose(new Set(isAll ? [] : rows.map(({ id }) => id)));
  return (
    <div
      ref={box}
      className={styles.grid}
      role="grid"
      aria-label="Contacts"
      aria-rowcount={hasMore ? -1 : rows.length + 1}
    >
      <div role="rowgroup">
        <div className={styles.headRow} role="row" aria-rowindex={1}>
          <span role="columnheader">
            <Checkbox size="xs" aria-label="Choose all that are loaded" checked={isAll} onChange={chooseAll} />
          </span>
          <span role="columnheader">Name</span>
          <span role="columnheader" className={styles.wide}>
            Phone
          </span>
          <span role="columnheader" className={styles.wide}>
            Stage
          </span>
          <span role="columnheader" className={styles.wide}>
            Tags
          </span>
          <span role="columnheader" className={styles.wide}>
            Score
          </span>
          <span role="columnheader">Status</span>
        </div>
      </div>
      <div role="rowgroup" style={{ position: 'relative', height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows[index];
          return row && <Row key={row.id} row={row} index={index} top={start} chosen={chosen} onChoose={onChoose} />;
        })}
      </div>
    </div>
  );
}

interface RowProps extends Pick<ContactGridProps, 'chosen' | 'onChoose'> {
  row: ContactItem;
  index: number;
  top: number;
}

function Row({ row, index, top, chosen, onChoose }: RowProps) {
  const { id, label, phone, pipeline_stage, tags, score, status, dnd_sms, created_at } = row;
  const toggle = () => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChoose(next);
  };
  return (
    <div className={styles.row} role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${top}px)` }}>
      <span role="gridcell">
        <Checkbox size="xs" aria-label={`Choose ${label}`} checked={chosen.has(id)} onChange={toggle} />
      </span>
      <span role="gridcell" className={styles.cut}>
        <Link to="/contacts/$id" params={{ id }}>
          {label}
        </Link>
      </span>
      <span role="gridcell" className={styles.wide}>
        {phone}
      </span>
      <span role="gridcell" className={styles.wide}>
        {words(pipeline_stage)}
      </span>
      <span role="gridcell" className={`${styles.cut} ${styles.wide}`}>
        {tags.join(', ')}
      </span>
      <span role="gridcell" className={styles.wide}>
        {score}
      </span>
      <span role="gridcell">
        {status === 'opted_out' ? (
          <Badge kind="bad">Opted out</Badge>
        ) : dnd_sms ? (
          <Badge kind="warn">DND</Badge>
        ) : (
          <Time at={created_at} />
        )}
      </span>
    </div>
  );
}
