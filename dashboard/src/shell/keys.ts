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

/** The key that leads to pages together with the next one. */
const LEADING = 'g';
/** Keys that go on while they are held: those that only move. */
const REPEATED = ['j', 'k', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight'];

let isLeading = false;
let isLed = false;

/** Note whether a key follows the leading one, before any function is called for it. */
window.addEventListener('keydown', note, { capture: true });

function note(event: KeyboardEvent): void {
  if (event.repeat) return;
  isLed = isLeading;
  isLeading = isSingle(event) && event.key === LEADING;
}

function isSingle(event: KeyboardEvent): boolean {
  return singleKeys.get() && !isTyping(event) && !document.querySelector('[role=dialog]');
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

type OnKey = (key: string, event: KeyboardEvent) => void;

/** Call a function for each single key that is typed outside of fields, except for the one after the leading key. */
export function useKeys(onKey: OnKey): void {
  useSingleKeys(onKey, false);
}

/** Call a function for the single key after the leading one, and for no other. */
export function useLedKey(onKey: OnKey): void {
  useSingleKeys(onKey, true);
}

function useSingleKeys(onKey: OnKey, areLed: boolean): void {
  const latest = useEffectEvent(onKey);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isMeant = isLed === areLed && (!event.repeat || REPEATED.includes(event.key));
      if (isMeant && isSingle(event)) latest(event.key, event);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [areLed]);
}
