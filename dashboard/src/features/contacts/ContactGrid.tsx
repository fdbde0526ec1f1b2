// The rows of the contacts that are in view: a million of them scroll as ten do.

import { useMediaQuery } from '@mantine/hooks';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type Dispatch, memo, type MouseEvent, type SetStateAction, useEffect, useEffectEvent, useRef } from 'react';
import type { Pages } from '../../graphql/index.ts';
import { Badge, grouped, Phone, Time, words } from '../../ui/index.ts';
import styles from './contacts.module.css';
import { onGridKey } from './gridKeys.ts';
import type { ContactItem } from './queries.ts';

const ROW = 40;
const ROW_FOR_FINGERS = 44;
const NEAR_END = 40;

/** The reasons why a contact cannot be texted, by the gate that refuses. */
const BLOCKED: Record<string, string> = {
  opt_out: 'Opted out',
  dnd: 'DND',
  hold: 'On hold',
  line_type: 'Landline',
  phone: 'Not in use',
};

interface ContactGridProps {
  pages: Pages<ContactItem>;
  chosen: ReadonlySet<number>;
  onChoose: Dispatch<SetStateAction<ReadonlySet<number>>>;
}

export function ContactGrid({ pages, chosen, onChoose }: ContactGridProps) {
  const box = useRef<HTMLDivElement>(null);
  const { rows, hasMore } = pages;
  const isNarrow = useMediaQuery('(max-width: 700px)', false, { getInitialValueInEffect: false });
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => (isNarrow ? ROW_FOR_FINGERS : ROW),
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const mayLoad = !pages.isLoading && !pages.error;
  const more = useEffectEvent(pages.more);
  useEffect(() => {
    if (mayLoad && last >= rows.length - NEAR_END) more();
  }, [last, rows.length, mayLoad]);
  const open = useOpen();
  const isAll = rows.every(({ id }) => chosen.has(id));
  const choose = (indexes: number[], isToggled: boolean) => onChoose((old) => withRows(old, rows, indexes, isToggled));
  const chooseAll = () => onChoose(new Set(isAll ? [] : rows.map(({ id }) => id)));
  return (
    <div
      ref={box}
      className={styles.grid}
      role="grid"
      aria-label="Contacts"
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      onClick={open}
      onKeyDown={(event) => onGridKey(event, rows.length, { onChoose: choose, onShow: virtual.scrollToIndex })}
    >
      <div role="rowgroup">
        <div className={styles.headRow} role="row" aria-rowindex={1}>
          <span role="columnheader">
            <label className={styles.finger}>
              <input
                type="checkbox"
                className={styles.choice}
                aria-label="Choose all that are loaded"
                checked={isAll}
                onChange={chooseAll}
              />
            </label>
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
          <span role="columnheader">Can text</span>
          <span role="columnheader" className={styles.wide}>
            Last message
          </span>
        </div>
      </div>
      <div role="rowgroup" style={{ position: 'relative', height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows[index];
          return (
            row && (
              <Row key={row.id} row={row} index={index} top={start} isChosen={chosen.has(row.id)} onChoose={onChoose} />
            )
          );
        })}
      </div>
    </div>
  );
}

/** Return the choice with the contacts of some rows added, or the one of a row that was chosen before taken out. */
function withRows(chosen: ReadonlySet<number>, rows: ContactItem[], indexes: number[], isToggled: boolean) {
  const next = new Set(chosen);
  for (const index of indexes) {
    const id = rows[index]?.id ?? 0;
    if (!isToggled || !next.delete(id)) next.add(id);
  }
  return next;
}

/** Open the contact whose link is clicked: one handler for all rows, which are cheaper without one of their own. */
function useOpen(): (event: MouseEvent<HTMLElement>) => void {
  const navigate = useNavigate();
  return (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>('a[data-id]') : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void navigate({ to: '/contacts/$id', params: { id: Number(link.dataset.id) } });
  };
}

interface RowProps extends Pick<ContactGridProps, 'onChoose'> {
  row: ContactItem;
  index: number;
  top: number;
  isChosen: boolean;
}

/** A row is drawn once while others scroll past it. */
const Row = memo(function Row({ row, index, top, isChosen, onChoose }: RowProps) {
  const { id, label, phone, pipeline_stage, tags, score, can_send, blocked_by, last_message_at } = row;
  const { basepath } = useRouter();
  const name = `${row.first_name} ${row.last_name}`.trim();
  const toggle = () =>
    onChoose((chosen) => {
      const next = new Set(chosen);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return (
    <div className={styles.row} role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${top}px)` }}>
      <span role="gridcell">
        <label className={styles.finger}>
          <input
            type="checkbox"
            className={styles.choice}
            aria-label={`Choose ${label}`}
            checked={isChosen}
            onChange={toggle}
          />
        </label>
      </span>
      <span role="gridcell" className={styles.cut}>
        <a href={`${basepath}/contacts/${id}`} data-id={id}>
          {name || grouped(phone)}
        </a>
        {name && <span className={styles.under}>{grouped(phone)}</span>}
      </span>
      <span role="gridcell" className={styles.wide}>
        <Phone number={phone} />
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
        {can_send && <Badge kind="good">Yes</Badge>}
        {blocked_by && (
          <span title={blocked_by.reason ?? undefined}>
            <Badge kind={blocked_by.gate === 'opt_out' ? 'bad' : 'warn'}>
              {BLOCKED[blocked_by.gate] ?? words(blocked_by.gate)}
            </Badge>
          </span>
        )}
      </span>
      <span role="gridcell" className={styles.wide}>
        {last_message_at ? <Time at={last_message_at} /> : '–'}
      </span>
    </div>
  );
});
