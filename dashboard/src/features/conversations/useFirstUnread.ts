// The first text that was not read when a thread was opened: the texts from it on are loaded before any is shown.

import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import type { Message } from '../../graphql/index.ts';
import { FirstUnread } from './queries.ts';
import type { useThread } from './useThread.ts';

/** The most texts that are loaded to reach the first unread one; the thread begins at the oldest of them otherwise. */
const MOST = 1_000;
const LARGE = { first: 200 };

type Thread = Pick<ReturnType<typeof useThread>, 'messages' | 'hasMore' | 'isLoading' | 'error' | 'moreOf'>;

export interface Opening {
  /** Whether the texts from the first unread one on are loaded. */
  isReady: boolean;
  firstUnread?: number;
}

export function useFirstUnread(id: number, thread: Thread, readUpTo: number | null | undefined): Opening {
  const { messages, hasMore, isLoading, error, moreOf } = thread;
  const [{ data, fetching }] = useQuery({ query: FirstUnread, variables: { id }, requestPolicy: 'network-only' });
  const [opened, setOpened] = useState<{ id?: number }>();
  const isKnown = !fetching && !isLoading && messages.length > 0;
  const first = data?.conversation
    ? data.conversation.first_unread_message_id
    : messages.find((message) => isInbound(message) && message.id > (readUpTo ?? 0))?.id;
  const isNear = !first || (messages[0]?.id ?? 0) <= first || !hasMore || messages.length >= MOST || error;
  if (!opened && isKnown && isNear)
    setOpened({ id: first ? messages.find((each) => each.id >= first)?.id : undefined });
  const isFar = !opened && isKnown && !isNear;
  useEffect(() => {
    if (isFar) moreOf(LARGE);
  }, [isFar, moreOf]);
  const isEmpty = !isLoading && messages.length === 0;
  return { isReady: opened !== undefined || isEmpty, firstUnread: opened?.id };
}

function isInbound({ direction }: Message): boolean {
  return direction === 'inbound';
}
