// The audit log: each change of access and settings. Its address holds the filters.

import { Button, Select } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { usePages } from '../../graphql/index.ts';
import { DateField, Empty, Failure, midnight, Skeleton, Table, Time, words } from '../../ui/index.ts';
import styles from './accounts.module.css';
import { ACTIONS, type Action } from './actions.ts';
import { auditListing, type Entry, People } from './queries.ts';
import { SettingsPage } from './SettingsPage.tsx';

const route = getRouteApi('/settings/audit');

export function AuditPage() {
  const { action, actor, since, until } = route.useSearch();
  const pages = usePages(auditListing, {
    action: action ?? null,
    actor: actor ?? null,
    since: since ? midnight(since) : null,
    until: until ? midnight(until, 1) : null,
  });
  const isFiltered = Boolean(action || actor || since || until);
  return (
    <SettingsPage title="Audit log">
      <Filters />
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty>{isFiltered ? 'No entry fits these filters.' : 'Nothing is recorded yet.'}</Empty>
      )}
      {pages.rows.length > 0 && <Entries entries={pages.rows} />}
      {pages.hasMore && (
        <Button mt="sm" variant="default" loading={pages.isLoading} onClick={pages.more}>
          Earlier entries
        </Button>
      )}
    </SettingsPage>
  );
}

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [{ data }] = useQuery({ query: People });
  const set = (changes: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...changes }), replace: true });
  const people = data?.users.map(({ id, email }) => ({ value: `user:${id}`, label: email })) ?? [];
  const isListed = !search.actor || people.some(({ value }) => value === search.actor);
  return (
    <div className={styles.filters}>
      <Select
        label="Action"
        placeholder="All"
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All actions' }}
        data={ACTIONS.map((value) => ({ value, label: words(value) }))}
        value={search.action ?? null}
        onChange={(action) => set({ action: (action as Action | null) ?? undefined })}
      />
      <Select
        label="By"
        placeholder="Anybody"
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'By anybody' }}
        data={isListed ? people : [...people, { value: search.actor ?? '', label: search.actor ?? '' }]}
        value={search.actor ?? null}
        onChange={(actor) => set({ actor: actor ?? undefined })}
      />
      <DateField label="From" value={search.since ?? ''} onChange={(value) => set({ since: value || undefined })} />
      <DateField label="To" value={search.until ?? ''} onChange={(value) => set({ until: value || undefined })} />
    </div>
  );
}

function Entries({ entries }: { entries: Entry[] }) {
  const navigate = route.useNavigate();
  return (
    <Table
      label="Audit log"
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { title: 'When', cell: ({ created_at }) => <Time at={created_at} full /> },
        { title: 'Action', isHead: true, cell: ({ action }) => words(action) },
        { title: 'About', cell: (entry) => <About entry={entry} /> },
        {
          title: 'By',
          cell: ({ actor }) => (
            <Button
              size="compact-xs"
              variant="transparent"
              px={0}
              fw={400}
              title={`Only entries by ${actor.label}`}
              onClick={() => void navigate({ search: (old) => ({ ...old, actor: actor.label }) })}
            >
              {nameOf(actor)}
            </Button>
          ),
        },
        { title: 'From', cell: ({ address }) => address || '–' },
      ]}
    />
  );
}

function About({ entry: { subject, details } }: { entry: Entry }) {
  const said = textOf(details);
  return (
    <>
      {subject || '–'}
      {said && <div className={styles.details}>{said}</div>}
    </>
  );
}

/** Return the details of an entry as text: names with their values. */
function textOf(details: unknown): string {
  if (Array.isArray(details)) return details.map(textOf).join(', ');
  if (typeof details !== 'object' || !details) return String(details ?? '–');
  return Object.entries(details)
    .map(([name, value]) => `${words(name)}: ${textOf(value)}`)
    .join(' · ');
}

function nameOf({ user, key, application, label }: Entry['actor']): string {
  if (key) return `Key ${key.name}`;
  return user?.email ?? application?.client_name ?? label;
}
