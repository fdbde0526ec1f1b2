// Single keys that are typed outside of fields and dialogs.

import { useEffect, useEffectEvent } from 'react';
import { createStore } from '../graphql/store.ts';

/** The place in the browser where a person's choice about single keys is kept. */
export const SINGLE_KEYS = 'single-keys';
const OFF = 'off';

/** Whether keys without Ctrl, ⌘ or Alt do something: speech input and tremor press them by accident. */
export const singleKeys = createStore(localStorage.getItem(SINGLE_KEYS) !== OFF);

export function setSingleKeys(areOn: boolean): void {
  if (areOn) localStorage.removeItem(SINGLE_KEYS);
  else localStorage.setItem(SINGLE_KEYS, OFF);
  singleKeys.set(areOn);
}

/** Tell whether a key is typed into a field, or belongs to the browser. */
export function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  const isField =
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable], [role=menu]');
  return Boolean(isField) || ctrlKey || metaKey || altKey;
}

/** Call a function for Ctrl or ⌘ with a letter, in fields too, but not over a dialog. */
export function useCommandKey(letter: string, onKey: () => void): void {
  const latest = useEffectEvent(onKey);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (!isCommand || event.key.toLowerCase() !== letter) return;
      event.preventDefault();
      if (!document.querySelector('[role=dialog]')) latest();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [letter]);
}

/** Call a function for each single key that is typed outside of fields. */
export function useKeys(onKey: (key: string, event: KeyboardEvent) => void): void {
  const latest = useEffectEvent(onKey);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isWanted = singleKeys.get() && !isTyping(event) && !document.querySelector('[role=dialog]');
      if (isWanted) latest(event.key, event);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
}
