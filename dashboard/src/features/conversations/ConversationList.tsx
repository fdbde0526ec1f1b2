// The conversations of a view, the one with the latest text first.

import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Button } from '@mantine/core';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useQuery } from 'urql';
import {
  type Conversation,
  type Pages,
  type ResultOf,
  usePages,
  useRefresh,
  useThrottled,
  useUpdates,
  useViewer,
} from '../../graphql/index.ts';
import { useKeys } from '../../shell/keys.ts';
import { Badge, brief, capped, Empty, Failure, Heading, instant, Skeleton } from '../../ui/index.ts';
import { hasDraft } from './drafts.ts';
import styles from './inbox.module.css';
import { InboxFilters } from './InboxFilters.tsx';
import { NewText } from './NewText.tsx';
import { order } from './order.ts';
import { type Present, usePresentEverywhere } from './presence.ts';
import { InboxCounts, inboxListing, waitingListing } from './queries.ts';
import { useNames } from './useNames.ts';
import { useSteady } from './useSteady.ts';
import { filterOf, type InboxSearch, isListed, validated, type View, VIEWS } from './views.ts';

const ROW = 60;
const NEAR_END = 10;

/** The pause between loads of the list, in milliseconds; a load begins after the answer to the one before. */
const PAUSE = 200;

export function ConversationList({ view, openId }: { view: View; openId?: number }) {
  const { id } = useViewer();
  const navigate = useNavigate();
  const search = validated(useSearch({ strict: false }));
  const filter = filterOf(view, id, search);
  const pages = usePages(search.sort ? waitingListing : inboxListing, filter);
  const [counted, send] = useQuery({ query: InboxCounts, requestPolicy: 'cache-and-network' });
  const countAgain = useRefresh(counted, send);
  const refresh = useThrottled(() => {
    pages.refresh();
    countAgain();
  }, PAUSE);
  useUpdates((update) => {
    const changed = update !== 'missed' && 'conversation' in update ? update.conversation : undefined;
    if (changed) pages.put(changed, isListed(changed, filter));
    if (update === 'missed' || 'conversation' in update) refresh();
  });
  useMoves(pages.rows, view, openId);
  return (
    <section className={styles.list} aria-label="Conversations">
      <div className={styles.listHead}>
        <div className={styles.title}>
          {openId ? <h2>Inbox</h2> : <Heading>Inbox</Heading>}
          <NewText view={view} />
        </div>
        <InboxFilters search={search} onChange={(next) => void navigate({ to: '.', search: next, replace: true })} />
        <Views counts={counted.data?.conversation_counts} />
      </div>
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length > 0 && <Rows pages={pages} view={view} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && <Empty>{emptyOf(view, search)}</Empty>}
    </section>
  );
}

function emptyOf(view: View, { search, number, sort }: InboxSearch): string {
  if (search) return 'No conversation with a contact of this name, phone or e-mail address.';
  if (number || sort) return 'No conversation of this view fits the number and order.';
  return VIEWS.find(({ name }) => name === view)?.empty ?? '';
}

type Counts = ResultOf<typeof InboxCounts>['conversation_counts'];

function Views({ counts }: { counts?: Counts }) {
  const sizes: Record<string, number | undefined> = { ...counts, 'possible-opt-out': counts?.possible_opt_out };
  return (
    <nav className={styles.views} aria-label="Views">
      {VIEWS.map(({ name, label }) => (
        <Link key={name} to="/inbox/$view" params={{ view: name }} search={true} className={styles.view}>
          {label} {sizes[name] ? capped(sizes[name]) : ''}
        </Link>
      ))}
    </nav>
  );
}

interface RowsProps {
  pages: Pages<Conversation>;
  view: View;
}

function Rows({ pages, view }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const { rows, moved, hold, release } = useSteady(pages.rows);
  const present = usePresentEverywhere();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const mayLoad = !pages.isLoading && !pages.error;
  const loadMore = useEffectEvent(pages.more);
  useEffect(() => {
    if (mayLoad && last >= rows.length - NEAR_END) loadMore();
  }, [last, rows.length, mayLoad]);
  return (
    <div ref={box} className={styles.rows} onPointerEnter={hold} onPointerLeave={release}>
      {moved > 0 && (
        <Button className={styles.moved} size="compact-xs" onClick={release}>
          {moved} new
        </Button>
      )}
      <div style={{ position: 'relative', height: virtual.getTotalSize() }}>
        {items.map(({ index, start, key }) => {
          const row = rows[index];
          const others = present.filter(({ conversationId }) => conversationId === row?.id);
          return row && <Row key={key} row={row} view={view} top={start} others={others} />;
        })}
      </div>
    </div>
  );
}

interface RowProps {
  row: Conversation;
  view: View;
  top: number;
  /** The colleagues who are in it. */
  others: Present[];
}

function Row({ row, view, top, others }: RowProps) {
  const viewer = useViewer();
  const { id, contact, unread_count, last_message, last_message_at, possible_opt_out, assignee } = row;
  const isDraft = hasDraft(viewer.id, id);
  return (
    <Link
      to="/inbox/$view/$id"
      params={{ view, id }}
      search={true}
      className={`${styles.row} ${unread_count ? styles.unread : ''}`}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span>
        {unread_count > 0 && <span className={styles.dot} role="img" aria-label={`${unread_count} unread`} />}
      </span>
      <span>
        <span className={styles.line}>
          <span className={styles.name}>{contact.label}</span>
          <time className={styles.soft} dateTime={last_message_at} title={instant(last_message_at)}>
            {brief(last_message_at)}
          </time>
        </span>
        <span className={`${styles.last} ${styles.line}`}>
          <span className={styles.name} dir="auto">
            {isDraft && '✎ Draft · '}
            {last_message?.direction === 'outbound' && 'You: '}
            {last_message?.body}
          </span>
          {possible_opt_out && <Badge kind="warn">Opt-out?</Badge>}
          <Others present={others} />
          {!possible_opt_out && others.length === 0 && assignee && assignee.id !== viewer.id && (
            <span className={styles.soft}>{assignee.first_name || assignee.email.split('@')[0]}</span>
          )}
        </span>
      </span>
    </Link>
  );
}

function Others({ present }: { present: Present[] }) {
  const names = useNames();
  const shown = present.find(({ isTyping }) => isTyping) ?? present[0];
  if (!shown) return null;
  return (
    <Badge kind={shown.isTyping ? 'warn' : 'plain'}>
      {`${names(shown.actor)} ${shown.isTyping ? 'is typing' : 'is here'}`}
    </Badge>
  );
}

/** Move through the list by `j` and `k`, and keep its order. */
function useMoves(rows: Conversation[], view: View, openId?: number): void {
  const navigate = useNavigate();
  useEffect(() => order.set(rows.map(({ id }) => id)), [rows]);
  useKeys((key) => {
    const step = { j: 1, k: -1 }[key];
    const present = rows.findIndex(({ id }) => id === openId);
    const next = step && rows[Math.max(0, present + step)];
    if (next) void navigate({ to: '/inbox/$view/$id', params: { view, id: next.id }, search: true });
  });
}
