// The frame of every page: navigation beside it, the state of the connection above it.

import { Burger, Drawer } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useMatches } from '@tanstack/react-router';
import { Bell, useNotices } from '../features/notices/index.ts';
import { connection, useStore, useViewer } from '../graphql/index.ts';
import { Forbidden } from './boundaries.tsx';
import { Brand, Navigation, SearchButton } from './Navigation.tsx';
import { Shortcuts } from './Shortcuts.tsx';
import { SignInAgain } from './SignInAgain.tsx';
import styles from './shell.module.css';

export function Shell() {
  const [isOpen, menu] = useDisclosure();
  useNotices();
  return (
    <div className={styles.frame}>
      <a href="#main" className={styles.skip}>
        Skip to the content
      </a>
      <header className={styles.side}>
        <div className={styles.first}>
          <Brand />
          <Bell />
        </div>
        <SearchButton />
        <Navigation />
      </header>
      <header className={styles.top}>
        <Burger opened={isOpen} onClick={menu.toggle} size="sm" aria-label="Pages" />
        <Brand />
        <div className={styles.last}>
          <SearchButton isBrief />
          <Bell />
        </div>
      </header>
      <Drawer opened={isOpen} onClose={menu.close} title="Pages" size={280}>
        <Navigation onChoose={menu.close} />
      </Drawer>
      <main id="main" className={styles.main}>
        <ConnectionBar />
        <Shortcuts />
        <Allowed />
      </main>
      <SignInAgain />
    </div>
  );
}

function Allowed() {
  const { scopes } = useViewer();
  const needed = useMatches({ select: (matches) => matches.map(({ staticData }) => staticData.scope) });
  const lacking = needed.find((scope) => scope && !scopes.includes(scope));
  return lacking ? <Forbidden scope={lacking} /> : <Outlet />;
}

function ConnectionBar() {
  const state = useStore(connection);
  if (state !== 'lost') return null;
  return (
    <div className={styles.bar} role="status">
      The connection is lost. Texts that you send wait here, and are sent as soon as it is back.
    </div>
  );
}
