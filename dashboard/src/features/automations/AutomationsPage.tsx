// The automations of the account as sentences, and common ones that are ready to be made.

import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { useMay, usePages } from '../../graphql/index.ts';
import { Badge, Empty, Failure, Icon, More, Page, Skeleton, Table, Time } from '../../ui/index.ts';
import styles from './automations.module.css';
import { type Automation, automationsListing, Templates } from './queries.ts';

export function AutomationsPage() {
  const pages = usePages(automationsListing, {});
  const navigate = useNavigate();
  const mayWrite = useMay('campaigns:write');
  const add = mayWrite && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => void navigate({ to: '/automations/new' })}>
      New automation
    </Button>
  );
  return (
    <Page title="Automations" actions={add}>
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty>An automation acts when something happens to a contact: it tags, assigns, texts or tells you.</Empty>
      )}
      {pages.rows.length > 0 && <AutomationTable automations={pages.rows} />}
      <More pages={pages} />
      {mayWrite && <Ready />}
    </Page>
  );
}

function AutomationTable({ automations }: { automations: Automation[] }) {
  return (
    <Table
      label="Automations"
      rows={automations}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Name',
          cell: ({ id, name, summary }) => (
            <>
              <Link to="/automations/$id" params={{ id }}>
                {name}
              </Link>
              <div className={styles.soft} dir="auto">
                {summary}
              </div>
            </>
          ),
        },
        { title: 'State', cell: ({ status }) => <AutomationState status={status} /> },
        { title: 'Looks next', cell: ({ next_at }) => (next_at ? <Time at={next_at} full /> : '–') },
      ]}
    />
  );
}

export function AutomationState({ status }: { status: Automation['status'] }) {
  return status === 'active' ? <Badge kind="good">Active</Badge> : <Badge>Paused</Badge>;
}

function Ready() {
  const [{ data }] = useQuery({ query: Templates });
  if (!data) return null;
  return (
    <section aria-labelledby="ready">
      <h2 id="ready" className={styles.heading}>
        Ready-made
      </h2>
      <div className={styles.templates}>
        {data.automation_templates.map(({ key, name, description }) => (
          <div key={key} className={styles.template}>
            <div>
              <h3>{name}</h3>
              <p>{description}</p>
            </div>
            <Link to="/automations/new" search={{ template: key }} aria-label={`Use ${name}`}>
              Use {name}
            </Link>
          </div>
        ))}
      </div>
    </section>
  );
}
