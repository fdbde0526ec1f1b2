// A query that is sent again after updates.

import { useEffect, useRef } from 'react';
import type { UseQueryExecute, UseQueryState } from 'urql';

/** The longest time for which an answer is awaited before a query is sent again, in milliseconds. */
const LONGEST = 10_000;

/** Send a query again, after the answer to the one under way: that may be older than the change. */
export function useRefresh(
  { fetching, stale }: Pick<UseQueryState, 'fetching' | 'stale'>,
  send: UseQueryExecute,
): () => void {
  const isAsked = useRef(false);
  const since = useRef(0);
  const isUnderWay = fetching || stale;
  useEffect(() => {
    if (isUnderWay || !isAsked.current) return;
    isAsked.current = false;
    send({ requestPolicy: 'network-only' });
  }, [isUnderWay, send]);
  return () => {
    if (!isAsked.current) since.current = Date.now();
    const isAwaited = isUnderWay && Date.now() - since.current < LONGEST;
    isAsked.current = isAwaited;
    if (!isAwaited) send({ requestPolicy: 'network-only' });
  };
}
