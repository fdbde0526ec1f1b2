// The contacts that match, loaded as they are scrolled to, and changed in bulk.
// The list is a component of its own: the page with its filters is not drawn again for each part that is loaded.

import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePages, useUpdates } from '../../graphql/index.ts';
import { Empty, Failure, Skeleton } from '../../ui/index.ts';
import { BulkBar, type Total } from './BulkBar.tsx';
import { ContactGrid } from './ContactGrid.tsx';
import { contactsListing } from './queries.ts';
import type { ContactsSearch } from './search.ts';

interface ContactListProps {
  filter: ContactsSearch;
  sort: ContactsSearch['sort'];
  /** Whether contacts may be chosen for another job. */
  mayChange: boolean;
  total?: Total;
  onJob: (id: number) => void;
  onReload: () => void;
}

export function ContactList({ filter, sort = 'date_added', mayChange, total, onJob, onReload }: ContactListProps) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const pages = usePages(contactsListing, { ...filter, sort });
  const reload = () => {
    setChosen(new Set());
    pages.refresh();
    onReload();
  };
  useUpdates((update) => {
    if (update === 'missed') reload();
  });
  return (
    <>
      {mayChange && chosen.size > 0 && <BulkBar chosen={chosen} filter={filter} total={total} onJob={onJob} />}
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton rows={10} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && <None filter={filter} />}
      {pages.rows.length > 0 && <ContactGrid pages={pages} chosen={chosen} onChoose={setChosen} />}
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
