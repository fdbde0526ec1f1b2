// Texts that are not sent yet: kept for each person and conversation, in this browser.

import { useState } from 'react';
import { createStore, useViewer } from '../../graphql/index.ts';

/** The conversation whose draft was changed from outside of its field, and how often. */
export const restored = createStore({ conversationId: 0, times: 0 });

function placeOf(userId: number, conversationId: number): string {
  return `draft-${userId}-${conversationId}`;
}

export function useDraft(conversationId: number): [string, (text: string) => void] {
  const { id } = useViewer();
  const place = placeOf(id, conversationId);
  const [text, setText] = useState(() => localStorage.getItem(place) ?? '');
  const keep = (next: string) => {
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
  return localStorage.getItem(placeOf(userId, conversationId)) !== null;
}
