// A value that is typed in a field and kept elsewhere, such as in the address.

import { useEffect, useEffectEvent, useState } from 'react';

const PAUSE = 300;

interface Typed {
  typed: string;
  type: (text: string) => void;
  /** Hand the value over at once. */
  finish: () => void;
}

/**
 * Return the typed value: it is handed over without the space around it once it has not changed for a moment, and is
 * replaced when the kept one is changed by something else.
 */
export function useTyped(kept: string, hand: (text: string) => void, pause = PAUSE): Typed {
  const [typed, type] = useState(kept);
  const [handed, setHanded] = useState(kept);
  const [before, setBefore] = useState(kept);
  if (kept !== before) {
    setBefore(kept);
    if (kept !== handed) {
      setHanded(kept);
      type(kept);
    }
  }
  const wanted = typed.trim();
  const isChanged = wanted !== handed;
  const finish = () => {
    if (!isChanged) return;
    setHanded(wanted);
    hand(wanted);
  };
  const finishLater = useEffectEvent(finish);
  useEffect(() => {
    if (!isChanged) return;
    const timer = window.setTimeout(() => finishLater(), pause);
    return () => window.clearTimeout(timer);
  }, [wanted, isChanged, pause]);
  return { typed, type, finish };
}
