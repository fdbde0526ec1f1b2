// The help that lists all keys.

import { Kbd, Modal, Switch } from '@mantine/core';
import { useStore } from '../graphql/index.ts';
import { setSingleKeys, singleKeys } from './keys.ts';
import { PLACES } from './navigation.ts';
import styles from './shell.module.css';
import { type ShownProps, useShown } from './shown.ts';

const SINGLE = 'Keys without Ctrl, ⌘ or Alt';

const KEYS: [string, string][] = [
  ['?', 'Show these keys'],
  ['⌘/Ctrl k', 'Search people, records, pages and actions'],
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
  ['↓ ↑', 'Contacts: next and previous contact'],
  ['x', 'Contacts: choose the contact'],
  ['⇧ ↓', 'Contacts: choose one contact after the other'],
  ['⌘/Ctrl ⏎', 'Send the text'],
  ['⌘/Ctrl S', 'Campaign: save the draft'],
  ['Alt 1-4', 'Campaign: open a step of the editor'],
  ['Esc', 'Close, or leave the field'],
];

export function KeysHelp({ isOpen, onClose }: ShownProps) {
  const isShown = useShown(isOpen);
  const areOn = useStore(singleKeys);
  return (
    <Modal opened={isShown} onClose={onClose} title="Keyboard shortcuts">
      <Switch
        mb="md"
        aria-label={SINGLE}
        label={SINGLE}
        description="Off, they do nothing. This list stays in the menu with your name."
        checked={areOn}
        onChange={({ currentTarget }) => setSingleKeys(currentTarget.checked)}
      />
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
