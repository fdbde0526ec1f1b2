// Texts that are not sent yet: kept for each person and conversation, in this browser.

import { useRef, useState } from 'react';
import { createStore, useViewer } from '../../graphql/index.ts';

/** The conversation whose draft was changed from outside of its field, and how often. */
export const restored = createStore({ conversationId: 0, times: 0 });

type Kind = 'reply' | 'note';

interface Stored {
  text: string;
  /** The id of the last message that the author saw, where it is known. */
  seen?: number;
}

function placeOf(userId: number, conversationId: number, kind: Kind = 'reply'): string {
  return `draft-${userId}-${conversationId}${kind === 'note' ? '-note' : ''}`;
}

function read(place: string): Stored {
  const kept = localStorage.getItem(place) ?? '';
  return kept.startsWith('{"text":') ? (JSON.parse(kept) as Stored) : { text: kept };
}

function write(place: string, draft: Stored): void {
  if (draft.text) localStorage.setItem(place, JSON.stringify(draft));
  else localStorage.removeItem(place);
}

type Change = string | ((latest: string) => string);

export interface Draft extends Stored {
  /** Change the text: a function is given the latest one, which was typed meanwhile. */
  keep: (change: Change) => void;
  /** Note that the author has seen a message. */
  see: (messageId: number) => void;
}

/** Return a draft; one that is begun now is of an author who has seen the newest message. */
export function useDraft(conversationId: number, kind: Kind, newest?: number): Draft {
  const { id } = useViewer();
  const place = placeOf(id, conversationId, kind);
  const [draft, setDraft] = useState(() => read(place));
  const latest = useRef(draft);
  const change = (next: Stored) => {
    latest.current = next;
    setDraft(next);
    write(place, next);
  };
  return {
    ...draft,
    keep: (wanted) => {
      const { text: before, seen } = latest.current;
      const text = typeof wanted === 'string' ? wanted : wanted(before);
      change({ text, seen: text ? ((before ? seen : undefined) ?? newest) : undefined });
    },
    see: (seen) => change({ ...latest.current, seen }),
  };
}

/** Put a text back into the field of its conversation, before what is typed there. */
export function restore(userId: number, conversationId: number, text: string): void {
  const place = placeOf(userId, conversationId);
  const typed = read(place);
  write(place, { ...typed, text: typed.text ? `${text}\n${typed.text}` : text });
  restored.set({ conversationId, times: restored.get().times + 1 });
}

export function hasDraft(userId: number, conversationId: number): boolean {
  const kinds: Kind[] = ['reply', 'note'];
  return kinds.some((kind) => localStorage.getItem(placeOf(userId, conversationId, kind)) !== null);
}
