// A conversation: its messages, what is decided about it, and the field for the reply.

import { Link, useNavigate } from '@tanstack/react-router';
import { Suspense, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { changed, type Conversation, type Message, useStore, useViewer } from '../../graphql/index.ts';
import { Button } from '@mantine/core';
import { Empty, Failure, Heading, Icon, part, Skeleton, timeIn } from '../../ui/index.ts';
import { Bubble } from './Bubble.tsx';
import { Composer } from './Composer.tsx';
import { type Entry, EntryLine, useEntries } from './Entries.tsx';
import styles from './inbox.module.css';
import { isAnswerOfOthers, outbox, type Waiting } from './outbox.ts';
import { InboxConversation } from './queries.ts';
import { ThreadHead } from './ThreadHead.tsx';
import { useFirstUnread } from './useFirstUnread.ts';
import { useReading } from './useReading.ts';
import { useThread } from './useThread.ts';
import type { View } from './views.ts';

const WaitingBubble = part(async () => (await import('./WaitingBubble.tsx')).WaitingBubble);
const Decision = part(async () => (await import('./Decision.tsx')).Decision);

/** The person beside the thread is loaded after the texts. */
const ContactPanel = part(async () => (await import('./ContactPanel.tsx')).ContactPanel);

export function Thread({ id, view }: { id: number; view: View }) {
  const navigate = useNavigate();
  const [{ data, error, fetching }, again] = useQuery({ query: InboxConversation, variables: { id } });
  const thread = useThread(id);
  const conversation = data?.conversation;
  const { entries, refresh } = useEntries(id, thread.messages[0]?.created_at, conversation?.version);
  const opening = useFirstUnread(id, thread, conversation?.read_up_to);
  const viewer = useViewer();
  const isOfOthers = (message: Message) => isAnswerOfOthers(message, viewer.id);
  if (!conversation) {
    return (
      <div className={styles.thread}>
        <header className={styles.threadHead}>
          <Link to="/inbox/$view" params={{ view }} search={true} className={styles.back} aria-label="Back to the list">
            <Icon name="back" />
          </Link>
          <Heading>Conversation</Heading>
        </header>
        {fetching && <Skeleton />}
        {!fetching && error && <Failure error={error} retry={() => load(again, thread.refresh)} />}
        {!fetching && !error && <Empty>This conversation does not exist.</Empty>}
      </div>
    );
  }
  const leave = (next?: number) => {
    changed();
    if (next) void navigate({ to: '/inbox/$view/$id', params: { view, id: next }, search: true });
    else void navigate({ to: '/inbox/$view', params: { view }, search: true });
  };
  return (
    <>
      <section className={styles.thread} aria-label={`Conversation with ${conversation.contact.label}`}>
        <ThreadHead conversation={conversation} view={view} onLeave={leave} />
        {thread.error && <Failure error={thread.error} retry={thread.refresh} />}
        <Log
          conversation={conversation}
          messages={opening.isReady ? thread.messages : []}
          entries={opening.isReady ? entries : []}
          firstUnread={opening.firstUnread}
          onChanged={refresh}
          hasMore={thread.hasMore}
          more={thread.more}
          isLoading={thread.isLoading}
        />
        <Suspense>{conversation.possible_opt_out && <Decision id={id} />}</Suspense>
        <Composer
          conversation={conversation}
          writtenAt={thread.messages.findLast(isInbound)?.created_at}
          answer={thread.messages.findLast(isOfOthers)}
          newest={thread.messages.at(-1)?.id}
        />
      </section>
      <Suspense>
        <ContactPanel contact={conversation.contact} />
      </Suspense>
    </>
  );
}

/** Load a conversation and its texts again. */
function load(again: (options: { requestPolicy: 'network-only' }) => void, refresh: () => void): void {
  again({ requestPolicy: 'network-only' });
  refresh();
}

interface LogProps {
  conversation: Conversation;
  messages: Message[];
  entries: Entry[];
  firstUnread?: number;
  onChanged: () => void;
  hasMore: boolean;
  isLoading: boolean;
  more: () => void;
}

function Log({ conversation, messages, entries, firstUnread, onChanged, hasMore, isLoading, more }: LogProps) {
  const { id } = conversation;
  const waiting = useStore(outbox).filter(
    (text) => text.conversationId === id && !messages.some((message) => isSame(text, message)),
  );
  const lines = linesOf(messages, hasMore ? entries.filter(({ at }) => at > (messages[0]?.created_at ?? '')) : entries);
  const { box, isAtEnd } = useFollowing(lines.at(-1)?.key, waiting.length);
  useReading(conversation, isAtEnd ? messages : []);
  return (
    // The log scrolls, so it takes the focus.
    <div ref={box} className={styles.log} role="log" aria-label="Messages" tabIndex={0}>
      {hasMore && (
        <Button variant="subtle" size="xs" fullWidth onClick={more} loading={isLoading}>
          Earlier messages
        </Button>
      )}
      {lines.map(({ key, at, message, entry }, index) => (
        <div key={key}>
          <Day at={at} before={lines[index - 1]?.at} />
          {message && message.id === firstUnread && <div className={`${styles.day} ${styles.news}`}>New</div>}
          {message && <Bubble message={message} />}
          {entry && <EntryLine entry={entry} onChanged={onChanged} />}
        </div>
      ))}
      <Suspense>
        {waiting.map((text) => (
          <WaitingBubble key={text.key} text={text} />
        ))}
      </Suspense>
    </div>
  );
}

interface Line {
  key: string;
  at: string;
  message?: Message;
  entry?: Entry;
}

/** Return texts, notes and events in the order of their times. */
function linesOf(messages: Message[], entries: Entry[]): Line[] {
  const texts = messages.map((message) => ({ key: `text ${message.id}`, at: message.created_at, message }));
  const others = entries.map((entry) => ({ key: `entry ${entry.id}`, at: entry.at, entry }));
  return [...texts, ...others].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

const DAY = { weekday: 'long', day: 'numeric', month: 'long' } as const;

function Day({ at, before }: { at: string; before?: string }) {
  const day = timeIn(DAY, new Date(at));
  const isSame = before && timeIn(DAY, new Date(before)) === day;
  return isSame ? null : <div className={styles.day}>{day}</div>;
}

const AT_END = 120;

/** Begin at the texts that were not read; keep the end in view while the reader is there, and after an own text. */
function useFollowing(lastId: string | undefined, waiting: number) {
  const box = useRef<HTMLDivElement>(null);
  const seen = useRef({ lastId: undefined as string | undefined, waiting });
  const [isAtEnd, setAtEnd] = useState(true);
  useEffect(() => {
    const element = box.current;
    const note = () => {
      if (element) setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < AT_END);
    };
    element?.addEventListener('scroll', note, { passive: true });
    return () => element?.removeEventListener('scroll', note);
  }, []);
  const follow = useEffectEvent(() => {
    const isOwn = waiting > seen.current.waiting;
    const news = seen.current.lastId ? null : box.current?.querySelector(`.${styles.news}`);
    if (news) news.scrollIntoView();
    else if (isAtEnd || isOwn) box.current?.scrollTo({ top: box.current.scrollHeight });
    seen.current = { lastId, waiting };
  });
  useLayoutEffect(() => follow(), [lastId, waiting]);
  return { box, isAtEnd };
}

const SKEW = 60_000;

/** Tell whether a text that waits for its answer is a message already. */
function isSame({ body, at, state }: Waiting, message: Message): boolean {
  const isOpen = state === 'sending' || state === 'unconfirmed';
  return (
    isOpen && message.direction === 'outbound' && message.body === body && Date.parse(message.created_at) > at - SKEW
  );
}

function isInbound({ direction }: Message): boolean {
  return direction === 'inbound';
}
