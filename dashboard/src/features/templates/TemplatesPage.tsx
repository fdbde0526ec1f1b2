// The saved templates, the newest first.

import { Button, TextInput } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMay, usePages } from '../../graphql/index.ts';
import { Empty, Failure, Icon, More, Page, Skeleton, Table, Time, useTyped } from '../../ui/index.ts';
import { templatesListing } from './queries.ts';
import styles from './templates.module.css';

const route = getRouteApi('/templates');

export function TemplatesPage() {
  const { search } = route.useSearch();
  const pages = usePages(templatesListing, { search });
  const mayWrite = useMay('campaigns:write');
  const add = mayWrite && (
    <Button
      leftSection={<Icon name="plus" size={16} />}
      renderRoot={(props) => <Link to="/templates/new" {...props} />}
    >
      New template
    </Button>
  );
  const isEmpty = pages.rows.length === 0 && !pages.isLoading && !pages.error;
  return (
    <Page title="Templates" actions={add}>
      <Search search={search} />
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {isEmpty && !search && (
        <Empty>A template is a text that you send often: replies and campaigns begin with it.</Empty>
      )}
      {isEmpty && search && (
        <Empty action={<Link to="/templates">Show all templates</Link>}>No template matches.</Empty>
      )}
      {pages.rows.length > 0 && (
        <Table
          label="Templates"
          rows={pages.rows}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Name',
              cell: ({ id, name }) => (
                <Link to="/templates/$id" params={{ id }}>
                  {name}
                </Link>
              ),
            },
            {
              title: 'Text',
              cell: ({ body }) => (
                <span className={styles.excerpt} dir="auto">
                  {body}
                </span>
              ),
            },
            { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
          ]}
        />
      )}
      <More pages={pages} />
    </Page>
  );
}

function Search({ search }: { search?: string }) {
  const navigate = useNavigate();
  const { typed, type } = useTyped(
    search ?? '',
    (wanted) => void navigate({ to: '/templates', search: { search: wanted || undefined }, replace: true }),
  );
  return (
    <TextInput
      mb="sm"
      type="search"
      aria-label="Search templates"
      placeholder="Search names and texts"
      value={typed}
      onChange={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}
