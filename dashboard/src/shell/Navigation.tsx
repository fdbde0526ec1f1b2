// The list of pages that the person may open.

import { Link } from '@tanstack/react-router';
import { useViewer } from '../graphql/index.ts';
import { Icon } from '../ui/index.ts';
import { UnstyledButton } from '@mantine/core';
import { ENTRIES, type Entry, FOOT } from './navigation.ts';
import { PersonMenu } from './PersonMenu.tsx';
import { showPalette } from './shown.ts';
import styles from './shell.module.css';

export function Brand() {
  return (
    <Link to="/" className={styles.brand}>
      <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="#5b5bd6" />
        <path d="M9 8h14a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3h-8l-5 4v-4H9a3 3 0 0 1-3-3v-8a3 3 0 0 1 3-3z" fill="#fff" />
      </svg>
      Messaging
    </Link>
  );
}

/** The button of the command palette, with the keys that open it. */
export function SearchButton({ isBrief }: { isBrief?: boolean }) {
  const isApple = navigator.platform.startsWith('Mac');
  return (
    <UnstyledButton
      className={isBrief ? styles.brief : styles.search}
      aria-label={isBrief ? 'Search' : undefined}
      aria-keyshortcuts="Control+K Meta+K"
      onClick={() => showPalette.set(true)}
    >
      <Icon name="search" />
      {!isBrief && (
        <>
          <span>Search</span>
          <kbd aria-hidden="true">{isApple ? '⌘K' : 'Ctrl K'}</kbd>
        </>
      )}
    </UnstyledButton>
  );
}

export function Navigation({ onChoose }: { onChoose?: () => void }) {
  return (
    <>
      <nav className={styles.nav} aria-label="Pages">
        <Entries entries={ENTRIES} onChoose={onChoose} />
        <div className={styles.gap} />
        <Entries entries={FOOT} onChoose={onChoose} />
        <a href="/docs" className={styles.link}>
          <Icon name="developers" />
          Developers
        </a>
      </nav>
      <PersonMenu />
    </>
  );
}

function Entries({ entries, onChoose }: { entries: Entry[]; onChoose?: () => void }) {
  const { scopes } = useViewer();
  return entries
    .filter(({ scope }) => scopes.includes(scope))
    .map(({ to, label, icon }) => (
      <Link
        key={to}
        to={to}
        className={styles.link}
        activeOptions={{ exact: to === '/', includeSearch: false }}
        onClick={onChoose}
      >
        <Icon name={icon} />
        {label}
      </Link>
    ));
}
