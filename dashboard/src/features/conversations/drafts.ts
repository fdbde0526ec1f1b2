// Texts that are not sent yet: kept for each person and conversation, in this browser.

import { useRef, useState } from 'react';
import { createStore, useViewer } from '../../graphql/index.ts';

/** The conversation whose draft was changed from outside of its field, and how often. */
export const restored = createStore({ conversationId: 0, times: 0 });

type Kind = 'reply' | 'note';

function placeOf(userId: number, conversationId: number, kind: Kind = 'reply'): string {
  return `draft-${userId}-${conversationId}${kind === 'note' ? '-note' : ''}`;
}

type Change = string | ((latest: string) => string);

/** Return a text, and the way to change it: a function is given the latest text, which was typed meanwhile. */
export function useDraft(conversationId: number, kind: Kind): [string, (change: Change) => void] {
  const { id } = useViewer();
  const place = placeOf(id, conversationId, kind);
  const [text, setText] = useState(() => localStorage.getItem(place) ?? '');
  const latest = useRef(text);
  const keep = (change: Change) => {
    const next = typeof change === 'string' ? change : change(latest.current);
    latest.current = next;
    setText(next);
    if (next) localStorage.setItem(place, next);
    else localStorage.removeItem(place);
  };
  return [text, keep];
}

/** Put a text back into the field of its conversation, before what is typed there. */
export function restore(userId: number, conversationId: number, text: string): void {
  const place = placeOf(userId, conversationId);
  const typed = localStorage.getItem(place);
  localStorage.setItem(place, typed ? `${text}\n${typed}` : text);
  restored.set({ conversationId, times: restored.get().times + 1 });
}

export function hasDraft(userId: number, conversationId: number): boolean {
  const kinds: Kind[] = ['reply', 'note'];
  return kinds.some((kind) => localStorage.getItem(placeOf(userId, conversationId, kind)) !== null);
}
