// All contacts: filtered by the address, loaded as they are scrolled to, changed in bulk.

import { Button } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay, usePages, useUpdates } from '../../graphql/index.ts';
import { Badge, count, Empty, Failure, Icon, Page, Refused, Skeleton, useAct, useNewDialog } from '../../ui/index.ts';
import { BulkBar } from './BulkBar.tsx';
import { ContactGrid } from './ContactGrid.tsx';
import { EditDialog } from './ContactForm.tsx';
import { Filters } from './Filters.tsx';
import { JobProgress } from './JobProgress.tsx';
import { Export } from './mutations.ts';
import { ContactsCount, contactsListing } from './queries.ts';
import type { ContactsSearch } from './search.ts';

const route = getRouteApi('/contacts');

export function ContactsPage() {
  const filter = route.useSearch();
  const { sort, job, ...conditions } = filter;
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [isAdding, setAdding] = useNewDialog();
  const pages = usePages(contactsListing, { ...conditions, sort: sort ?? 'date_added' });
  const [{ data }, countAgain] = useQuery({ query: ContactsCount, variables: conditions });
  const reload = () => {
    setChosen(new Set());
    pages.refresh();
    countAgain({ requestPolicy: 'network-only' });
  };
  useUpdates((update) => {
    if (update === 'missed') reload();
  });
  const setFilter = (search: ContactsSearch) => {
    setChosen(new Set());
    void navigate({ to: '/contacts', search, replace: true });
  };
  const follow = (next?: number) => void navigate({ to: '/contacts', search: { ...filter, job: next }, replace: true });
  const total = data?.contacts;
  return (
    <Page
      title="Contacts"
      aside={total && <Badge>{`${count(total.total_count)}${total.total_is_exact ? '' : '+'}`}</Badge>}
      actions={<Actions filter={conditions} onAdd={() => setAdding(true)} onJob={follow} />}
    >
      <Filters filter={filter} onChange={setFilter} />
      {job && <JobProgress key={job} id={job} onEnd={reload} onClose={() => follow(undefined)} />}
      {chosen.size > 0 && !job && (
        <BulkBar chosen={chosen} filter={conditions} total={total?.total_count} onJob={follow} />
      )}
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton rows={10} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && <None filter={conditions} />}
      {pages.rows.length > 0 && <ContactGrid pages={pages} chosen={chosen} onChoose={setChosen} />}
      <EditDialog
        isOpen={isAdding}
        onClose={() => setAdding(false)}
        onSaved={(id) => void navigate({ to: '/contacts/$id', params: { id } })}
      />
    </Page>
  );
}

interface ActionsProps {
  filter: ContactsSearch;
  onAdd: () => void;
  onJob: (id: number) => void;
}

function Actions({ filter, onAdd, onJob }: ActionsProps) {
  const mayWrite = useMay('contacts:write');
  const maySave = useMay('campaigns:write');
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      {maySave && isFiltered && (
        <Button variant="default" renderRoot={(props) => <Link to="/segments/new" search={filter} {...props} />}>
          Save as segment
        </Button>
      )}
      <Button variant="default" renderRoot={(props) => <Link to="/contacts/duplicates" {...props} />}>
        Duplicates
      </Button>
      <ExportButton filter={filter} onJob={onJob} />
      {mayWrite && (
        <>
          <Button variant="default" renderRoot={(props) => <Link to="/contacts/import" {...props} />}>
            Import
          </Button>
          <Button onClick={onAdd} leftSection={<Icon name="plus" size={16} />}>
            New contact
          </Button>
        </>
      )}
    </>
  );
}

function ExportButton({ filter, onJob }: Pick<ActionsProps, 'filter' | 'onJob'>) {
  const act = useAct(Export);
  const begin = async () => {
    const made = await act.run({ filter });
    if (made) onJob(made.export_contacts.id);
  };
  return (
    <>
      <Button variant="default" loading={act.isBusy} onClick={() => void begin()}>
        Export
      </Button>
      {act.refusal && <Refused refusal={act.refusal} />}
    </>
  );
}

function None({ filter }: { filter: ContactsSearch }) {
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  if (isFiltered) return <Empty action={<Link to="/contacts">Show all contacts</Link>}>No contact matches.</Empty>;
  return (
    <Empty action={<Link to="/contacts/import">Import contacts from a file</Link>}>
      There are no contacts yet. Everyone who texts you becomes one.
    </Empty>
  );
}
