// A text that follows another one once that does not change any more.

import { useEffect, useState } from 'react';

const PAUSE = 300;

/** Return a text once it has not changed for a moment. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), PAUSE);
    return () => window.clearTimeout(timer);
  }, [text]);
  return settled;
}
