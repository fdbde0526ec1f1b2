// A work that is asked for again and again, and never runs twice at a time.

import { useEffect, useRef } from 'react';

/** Run a work, and once more after it if it was asked for meanwhile: a slow answer is shown before the next request. */
export function useOneAtATime(work: () => Promise<void>): () => void {
  const latest = useRef(work);
  const isBusy = useRef(false);
  const isAsked = useRef(false);
  useEffect(() => {
    latest.current = work;
  });
  async function run() {
    isAsked.current = isBusy.current;
    if (isBusy.current) return;
    isBusy.current = true;
    try {
      await latest.current();
    } finally {
      isBusy.current = false;
    }
    if (isAsked.current) void run();
  }
  return () => void run();
}
