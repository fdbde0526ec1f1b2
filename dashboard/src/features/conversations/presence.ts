// The colleagues who look at a conversation or type in it: told every 10 seconds, forgotten after 15.

import { useEffect, useRef, useState } from 'react';
import { useMutation } from 'urql';
import { useMay, useUpdates, useViewer } from '../../graphql/index.ts';
import { AnnouncePresence } from './mutations.ts';
import type { Actor } from './useNames.ts';

const REPEAT = 10_000;
const FORGET = 15_000;

export interface Present {
  conversationId: number;
  actor: Actor;
  isTyping: boolean;
}

/** Return who else is in a conversation. */
export function usePresent(id: number): Present[] {
  return usePresentEverywhere().filter(({ conversationId }) => conversationId === id);
}

/** Return who else is in any conversation. */
export function usePresentEverywhere(): Present[] {
  const viewer = useViewer();
  const [present, setPresent] = useState<ReadonlyMap<string, Present>>(new Map());
  const timers = useRef(new Map<string, number>());
  useEffect(() => {
    const all = timers.current;
    return () => all.forEach((timer) => window.clearTimeout(timer));
  }, []);
  useUpdates((update) => {
    if (update === 'missed' || update.__typename !== 'PresenceUpdate') return;
    const { actor, conversation_id: conversationId, typing } = update;
    if (!conversationId || !actor?.id || actor.kind !== 'user' || actor.id === viewer.id) return;
    const place = `${conversationId} ${actor.id}`;
    setPresent((old) => new Map(old).set(place, { conversationId, actor, isTyping: typing }));
    window.clearTimeout(timers.current.get(place));
    timers.current.set(
      place,
      window.setTimeout(() => setPresent((old) => new Map([...old].filter(([key]) => key !== place))), FORGET),
    );
  });
  return [...present.values()];
}

/** Tell the others that this person looks at a conversation, and whether they type in it. */
export function usePresence(id: number, isTyping: boolean): void {
  const mayTell = useMay('conversations:write');
  const [, announce] = useMutation(AnnouncePresence);
  useEffect(() => {
    if (!mayTell) return;
    const tell = () => {
      if (document.visibilityState === 'visible') void announce({ conversation_id: id, typing: isTyping });
    };
    tell();
    const timer = window.setInterval(tell, REPEAT);
    return () => window.clearInterval(timer);
  }, [id, isTyping, mayTell, announce]);
}
