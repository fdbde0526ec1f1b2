// The frame of the settings: the list of their pages beside one of them.

import { Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { useViewer } from '../../graphql/index.ts';
import { Page } from '../../ui/index.ts';
import styles from './accounts.module.css';

const PAGES = [
  { to: '/settings/profile', label: 'You', scope: 'account:read' },
  { to: '/settings/notices', label: 'Notices', scope: 'account:read' },
  { to: '/settings/company', label: 'Company', scope: 'account:write' },
  { to: '/settings/sending', label: 'Sending', scope: 'account:write' },
  { to: '/settings/people', label: 'People', scope: 'conversations:write' },
  { to: '/settings/keys', label: 'API Keys', scope: 'webhooks:manage' },
  { to: '/settings/integrations', label: 'Integrations', scope: 'webhooks:manage' },
  { to: '/settings/applications', label: 'Applications', scope: 'account:read' },
  { to: '/settings/sessions', label: 'Sessions', scope: 'account:read' },
  { to: '/settings/audit', label: 'Audit log', scope: 'account:write' },
];

export function SettingsPage({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { scopes } = useViewer();
  const router = useRouter();
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    // A phone shows some of the tabs at a time, and the router restores which ones after the page is rendered.
    return router.subscribe('onRendered', () => {
      const present = tabs.current?.querySelector('[aria-current=page]');
      present?.scrollIntoView({ block: 'nearest', inline: 'center' });
    });
  }, [router]);
  const shown = PAGES.filter(({ scope }) => scopes.includes(scope));
  return (
    <Page title={title} actions={actions}>
      <nav ref={tabs} className={styles.tabs} aria-label="Settings">
        {shown.map(({ to, label }) => (
          <Link key={to} to={to} className={styles.tab}>
            {label}
          </Link>
        ))}
      </nav>
      {children}
    </Page>
  );
}
