// The list of contacts, with its filters, its actions and the progress of a job.

import { Button } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Later } from '../../shell/Later.tsx';
import { Badge, dialog, Fold, Icon, Page, Refused, useAct, useNewDialog } from '../../ui/index.ts';
import { brief } from './BulkBar.tsx';
import { ContactList } from './ContactList.tsx';
import { Filters } from './Filters.tsx';
import { JobProgress } from './JobProgress.tsx';
import { Export } from './mutations.ts';
import { ContactsCount } from './queries.ts';
import { RenameTag } from './RenameTag.tsx';
import { type ContactsSearch, isOneChoice } from './search.ts';

const EditDialog = dialog(async () => (await import('./ContactForm.tsx')).EditDialog);
const route = getRouteApi('/contacts');

export function ContactsPage() {
  const filter = route.useSearch();
  const { sort, job, ...conditions } = filter;
  const navigate = useNavigate();
  const [isAdding, setAdding] = useNewDialog();
  const [turn, setTurn] = useState(0);
  const [{ data, fetching, stale }, countAgain] = useQuery({
    query: ContactsCount,
    variables: conditions,
    requestPolicy: 'cache-and-network',
  });
  const setFilter = (search: ContactsSearch) => void navigate({ to: '/contacts', search, replace: true });
  const follow = (next?: number) => setFilter({ ...filter, job: next });
  const recount = () => countAgain({ requestPolicy: 'network-only' });
  const reload = () => {
    setTurn((old) => old + 1);
    recount();
  };
  const total = data?.contacts ?? undefined;
  return (
    <Page
      title="Contacts"
      aside={total && <Badge>{brief(total)}</Badge>}
      actions={<Actions filter={conditions} onAdd={() => setAdding(true)} onJob={follow} />}
    >
      <Filters filter={filter} onChange={setFilter} />
      {job && <JobProgress key={job} id={job} onEnd={reload} onClose={() => follow()} />}
      <ContactList
        key={JSON.stringify([conditions, sort, turn])}
        filter={conditions}
        sort={sort}
        mayChange={!job}
        onJob={follow}
        total={fetching || stale ? undefined : total}
        onReload={recount}
      />
      <Later isWanted={isAdding}>
        <EditDialog
          isOpen={isAdding}
          onClose={() => setAdding(false)}
          onSaved={(id) => void navigate({ to: '/contacts/$id', params: { id } })}
        />
      </Later>
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
      <Fold label="More" icon="more">
        {maySave && isFiltered && !filter.segment && (
          <Button variant="default" renderRoot={(props) => <Link to="/segments/new" search={filter} {...props} />}>
            Save as segment
          </Button>
        )}
        <Button variant="default" renderRoot={(props) => <Link to="/contacts/duplicates" {...props} />}>
          Duplicates
        </Button>
        <ExportButton filter={filter} onJob={onJob} />
        {mayWrite && filter.tag && <RenameTag key={filter.tag} tag={filter.tag} onJob={onJob} />}
        {mayWrite && (
          <Button variant="default" renderRoot={(props) => <Link to="/contacts/import" {...props} />}>
            Import
          </Button>
        )}
      </Fold>
      {mayWrite && (
        <Button onClick={onAdd} leftSection={<Icon name="plus" size={16} />}>
          New contact
        </Button>
      )}
    </>
  );
}

function ExportButton({ filter, onJob }: Pick<ActionsProps, 'filter' | 'onJob'>) {
  const act = useAct(Export);
  const { segment, ...conditions } = filter;
  const isBoth = !isOneChoice(filter);
  const begin = async () => {
    const made = await act.run(segment ? { segment } : { filter: conditions });
    if (made) onJob(made.export_contacts.id);
  };
  return (
    <>
      <Button
        variant="default"
        loading={act.isBusy}
        disabled={isBoth}
        title={isBoth ? 'Export takes a segment or other filters, not both.' : undefined}
        onClick={() => void begin()}
      >
        Export
      </Button>
      {act.refusal && <Refused refusal={act.refusal} />}
    </>
  );
}
