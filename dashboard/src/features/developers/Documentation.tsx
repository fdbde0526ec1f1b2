// The public pages for developers: each is a chunk of its own.

import { type ComponentType, Suspense } from 'react';
import { Card, Page, shown, Skeleton, Unloaded } from '../../ui/index.ts';
import styles from './developers.module.css';
import { Header } from './Header.tsx';
import { PLACES } from './places.ts';

const PAGES: Record<string, ComponentType> = {
  '/docs/rest': shown(async () => (await import('./RestPage.tsx')).RestPage, Unavailable),
  '/docs/webhooks': shown(async () => (await import('./WebhooksPage.tsx')).WebhooksPage, Unavailable),
  '/docs/tools': shown(async () => (await import('./ToolsPage.tsx')).ToolsPage, Unavailable),
};

export function Documentation({ path }: { path: string }) {
  const Shown = PAGES[path] ?? Overview;
  return (
    <>
      <a href="#main" className={styles.skip}>
        Skip to the content
      </a>
      <Header path={path} />
      <main id="main">
        <Suspense fallback={<Skeleton />}>
          <Shown />
        </Suspense>
      </main>
    </>
  );
}

function Unavailable() {
  return (
    <Page title="Developers">
      <Unloaded />
    </Page>
  );
}

function Overview() {
  return (
    <Page title="Developers">
      <p>Everything that the dashboard does is open to your programs. They sign in with a key.</p>
      <ul className={styles.overview}>
        {PLACES.map(({ path, label, about }) => (
          <li key={path}>
            <a href={path}>{label}</a>
            {about}
          </li>
        ))}
      </ul>
      <Card title="Documents for programs">
        <p className={styles.links}>
          <a href="/openapi.json">OpenAPI document</a>
          <a href="/readyz">Readiness</a>
          <a href="/metrics">Metrics</a>
        </p>
      </Card>
    </Page>
  );
}
