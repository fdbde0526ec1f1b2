// A call that follows live updates: many that come together are one.

import { useEffect, useRef } from 'react';

/** Call a function at once, and once more after a pause, in milliseconds, if it was asked for meanwhile. */
export function useThrottled(call: () => void, pause = 800): () => void {
  const latest = useRef(call);
  const timer = useRef<number>(undefined);
  const isAsked = useRef(false);
  useEffect(() => {
    latest.current = call;
  });
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return function run() {
    isAsked.current = timer.current !== undefined;
    if (isAsked.current) return;
    latest.current();
    timer.current = window.setTimeout(() => {
      timer.current = undefined;
      if (isAsked.current) run();
    }, pause);
  };
}
