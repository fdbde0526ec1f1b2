// Everything that happened with a contact, the newest first.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay, useRefresh, useUpdates } from '../../graphql/index.ts';
import { Badge, Card, Empty, Failure, type Kind, Skeleton, Time, words } from '../../ui/index.ts';
import { useNames } from '../conversations/index.ts';
import styles from './contacts.module.css';
import { concerns, ContactTimeline, ContactTimelineBrief, sentenceOf, type TimelineEntry } from './timeline.ts';

export function Timeline({ id }: { id: number }) {
  const [cursors, setCursors] = useState<(string | null)[]>([null]);
  return (
    <Card title="Timeline">
      {cursors.map((after, index) => (
        <Part
          key={after}
          id={id}
          after={after}
          isLast={index === cursors.length - 1}
          onMore={(end) => setCursors([...cursors, end])}
          onChange={() => setCursors([null])}
        />
      ))}
    </Card>
  );
}

interface PartProps {
  id: number;
  after: string | null;
  isLast: boolean;
  onMore: (end: string) => void;
  onChange: () => void;
}

function Part({ id, after, isLast, onMore, onChange }: PartProps) {
  const seesAll = [useMay('messages:read'), useMay('conversations:read')].every(Boolean);
  const [{ data, error, fetching, stale }, send] = useQuery({
    query: seesAll ? ContactTimeline : ContactTimelineBrief,
    variables: { id, after },
    requestPolicy: 'cache-and-network',
  });
  const refresh = useRefresh({ fetching, stale }, send);
  useUpdates((update) => {
    if (after !== null || (update !== 'missed' && !concerns(update, id))) return;
    onChange();
    refresh();
  });
  if (error && !data) return <Failure error={error} retry={() => send()} />;
  if (!data) return <Skeleton rows={4} />;
  const { entries = [], end_cursor } = data.contact_timeline ?? { end_cursor: null };
  return (
    <>
      {entries.length === 0 && <Empty>Nothing has happened yet.</Empty>}
      <ol className={styles.timeline}>
        {entries.map((entry) => (
          <Entry key={`${entry.kind} ${entry.record_id} ${entry.at} ${entry.detail}`} entry={entry} />
        ))}
      </ol>
      {isLast && end_cursor && (
        <Button size="xs" variant="default" loading={fetching} onClick={() => onMore(end_cursor)}>
          Show earlier
        </Button>
      )}
    </>
  );
}

const STATES: Record<string, Kind> = { delivered: 'good', failed: 'bad' };

function Entry({ entry }: { entry: TimelineEntry }) {
  const names = useNames();
  const { kind, at, actor, message, note } = entry;
  const body = message?.body ?? note?.body;
  return (
    <li className={styles.entry}>
      <div>
        <What entry={entry} />
        {message && message.direction === 'outbound' && (
          <Badge kind={STATES[message.status] ?? 'plain'}>{words(message.status)}</Badge>
        )}
        <span className={styles.when}>
          {actor && kind !== 'added' && !(message && message.direction === 'inbound') && `${names(actor)} · `}
          <Time at={at} full />
        </span>
      </div>
      {body && (
        <div className={styles.said} dir="auto">
          {body}
        </div>
      )}
      {message?.status === 'failed' && <Why message={message} />}
    </li>
  );
}

function Why({ message: { status_description, failed_at } }: { message: NonNullable<TimelineEntry['message']> }) {
  return (
    <div className={styles.why}>
      {status_description ?? 'The carrier did not say why.'}
      {failed_at && (
        <>
          {' '}
          Failed <Time at={failed_at} full />.
        </>
      )}
    </div>
  );
}

function What({ entry }: { entry: TimelineEntry }) {
  const mayOpen = useMay('campaigns:read');
  const sentence = <strong>{sentenceOf(entry)}</strong>;
  if (!mayOpen || (entry.kind !== 'enrolled' && entry.kind !== 'enrollment_ended')) return sentence;
  return (
    <Link to="/sequences/$id" params={{ id: entry.record_id }}>
      {sentence}
    </Link>
  );
}
