// The head of the pages for developers.

import styles from './developers.module.css';
import { PLACES } from './places.ts';

export function Header({ path }: { path: string }) {
  return (
    <header className={styles.header}>
      <a href="/docs" className={styles.brand}>
        <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
          <rect width="32" height="32" rx="8" fill="#5b5bd6" />
          <path d="M9 8h14a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3h-8l-5 4v-4H9a3 3 0 0 1-3-3v-8a3 3 0 0 1 3-3z" fill="#fff" />
        </svg>
        Developers
      </a>
      <nav aria-label="Pages" className={styles.places}>
        {PLACES.map((place) => (
          <a key={place.path} href={place.path} aria-current={place.path === path ? 'page' : undefined}>
            {place.label}
          </a>
        ))}
      </nav>
      <a href="/app/" className={styles.back}>
        Dashboard
      </a>
    </header>
  );
}
