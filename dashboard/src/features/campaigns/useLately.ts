// Reloading what follows from updates: at once, and then at most every two seconds while updates come.

import { useEffect, useRef } from 'react';
import { useUpdates, type Update } from '../../graphql/index.ts';

const PAUSE = 2_000;

/** Call a function after the updates that a test lets through, and after missed ones. */
export function useLately(concerns: (update: Update) => boolean, reload: () => void): void {
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  useUpdates((update) => {
    if (update !== 'missed' && !concerns(update)) return;
    if (timer.current !== undefined) return;
    timer.current = window.setTimeout(() => {
      timer.current = undefined;
      reload();
    }, PAUSE);
  });
}
