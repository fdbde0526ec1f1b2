// A query that is sent again after updates.

import { useEffect, useRef } from 'react';
import type { UseQueryExecute, UseQueryState } from 'urql';

/** Send a query again, after the answer to the one under way: that may be older than the change. */
export function useRefresh(
  { fetching, stale }: Pick<UseQueryState, 'fetching' | 'stale'>,
  send: UseQueryExecute,
): () => void {
  const isAsked = useRef(false);
  const isUnderWay = fetching || stale;
  useEffect(() => {
    if (isUnderWay || !isAsked.current) return;
    isAsked.current = false;
    send({ requestPolicy: 'network-only' });
  }, [isUnderWay, send]);
  return () => {
    if (isUnderWay) isAsked.current = true;
    else send({ requestPolicy: 'network-only' });
  };
}
