// The audit log: who changed what about access and settings.

import { Button } from '@mantine/core';
import { usePages } from '../../graphql/index.ts';
import { Empty, Failure, Skeleton, Table, Time, words } from '../../ui/index.ts';
import { auditListing } from './queries.ts';
import { SettingsPage } from './SettingsPage.tsx';

export function AuditPage() {
  const pages = usePages(auditListing, { action: null });
  return (
    <SettingsPage title="Audit log">
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && (pages.isLoading ? <Skeleton /> : <Empty>Nothing is recorded yet.</Empty>)}
      {pages.rows.length > 0 && (
        <Table
          label="Audit log"
          rows={pages.rows}
          keyOf={({ id }) => id}
          columns={[
            { title: 'When', cell: ({ created_at }) => <Time at={created_at} full /> },
            { title: 'What', cell: ({ action }) => words(action) },
            { title: 'About', cell: ({ subject }) => subject },
            { title: 'By', cell: ({ actor }) => actor.user?.email ?? actor.label },
            { title: 'From', cell: ({ address }) => address || '–' },
          ]}
        />
      )}
      {pages.hasMore && (
        <Button mt="sm" variant="default" loading={pages.isLoading} onClick={pages.more}>
          Earlier entries
        </Button>
      )}
    </SettingsPage>
  );
}
