// Keys that lead to pages, and the help that lists all keys.

import { Kbd, Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { createStore, useStore } from '../graphql/index.ts';
import { useKeys } from './keys.ts';
import { ENTRIES, FOOT } from './navigation.ts';
import styles from './shell.module.css';

export const showKeys = createStore(false);

const PLACES = [...ENTRIES, ...FOOT].filter(({ key }) => key);

const KEYS: [string, string][] = [
  ['?', 'Show these keys'],
  ['/', 'Search on this page'],
  ['j k', 'Inbox: next and previous conversation'],
  ['r', 'Inbox: write a reply'],
  ['n', 'Inbox: write an internal note'],
  ['t', 'Inbox: begin with a template'],
  ['a', 'Inbox: assign the conversation'],
  ['u', 'Inbox: leave the conversation unread'],
  ['e', 'Inbox: close the conversation, open the next one'],
  ['s', 'Inbox: put the conversation off'],
  ['y x', 'Inbox: decide on a possible opt-out: opted out, or not'],
  ['⌘/Ctrl ⏎', 'Send the text'],
  ['Esc', 'Close, or leave the field'],
];

export function Shortcuts() {
  const navigate = useNavigate();
  const isShown = useStore(showKeys);
  const isLeading = useRef(false);
  useKeys((key, event) => {
    if (key === '?') showKeys.set(true);
    const place = isLeading.current && PLACES.find((entry) => entry.key === key);
    if (place) void navigate({ to: place.to });
    if (key === '/') focusSearch(event);
    isLeading.current = key === 'g';
  });
  return (
    <Modal opened={isShown} onClose={() => showKeys.set(false)} title="Keyboard shortcuts">
      <dl className={styles.keys}>
        {KEYS.map(([key, meaning]) => (
          <Key key={key} keys={key} meaning={meaning} />
        ))}
        {PLACES.map(({ key = '', label }) => (
          <Key key={key} keys={`g ${key}`} meaning={label} />
        ))}
      </dl>
    </Modal>
  );
}

function Key({ keys, meaning }: { keys: string; meaning: string }) {
  return (
    <>
      <dt>
        {keys.split(' ').map((key) => (
          <Kbd key={key} mr={4}>
            {key}
          </Kbd>
        ))}
      </dt>
      <dd>{meaning}</dd>
    </>
  );
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('input[type=search]');
  if (field) event.preventDefault();
  field?.focus();
}
