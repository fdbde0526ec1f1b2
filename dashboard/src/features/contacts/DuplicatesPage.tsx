// Contacts that are likely to be one person, to be merged.

import { Button, SegmentedControl } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { type ResultOf, useMay, useUpdates } from '../../graphql/index.ts';
import { Badge, Card, Empty, Failure, grouped, Page, Phone, Skeleton, Table, Time } from '../../ui/index.ts';
import { MergeDialog } from './MergeDialog.tsx';
import type { PickedContact } from './ContactPicker.tsx';
import { ContactDuplicates } from './duplicates.ts';
import { DUPLICATES, type DuplicateSearch } from './search.ts';

const route = getRouteApi('/contacts/duplicates');

const LABELS = { email: 'Same e-mail address', phone: 'Same last 10 digits' };
const SIZE = 20;

type Group = ResultOf<typeof ContactDuplicates>['duplicate_contacts'][number];

export function DuplicatesPage() {
  const { kind = 'email', after } = route.useSearch();
  const navigate = useNavigate();
  const [{ data, error }, again] = useQuery({
    query: ContactDuplicates,
    variables: { kind, after: after ?? null, first: SIZE },
    requestPolicy: 'cache-and-network',
  });
  useUpdates((update) => {
    if (update === 'missed') again({ requestPolicy: 'network-only' });
  });
  const groups = data?.duplicate_contacts;
  const last = groups?.at(-1)?.cursor;
  const show = (search: DuplicateSearch) => void navigate({ to: '/contacts/duplicates', search });
  return (
    <Page title="Duplicates" aside={<Link to="/contacts">Contacts</Link>}>
      <SegmentedControl
        mb="md"
        size="xs"
        aria-label="Field in common"
        value={kind}
        onChange={(value) => show({ kind: DUPLICATES.find((each) => each === value) })}
        data={DUPLICATES.map((value) => ({ value, label: LABELS[value] }))}
      />
      {error && <Failure error={error} retry={() => again()} />}
      {!groups && !error && <Skeleton />}
      {groups?.length === 0 && <Empty>No two contacts have this in common.</Empty>}
      {groups?.map((group) => (
        <GroupCard key={group.value} group={group} />
      ))}
      {groups?.length === SIZE && (
        <Button variant="default" onClick={() => show({ kind, after: last })}>
          Next
        </Button>
      )}
    </Page>
  );
}

function GroupCard({ group: { value, contacts } }: { group: Group }) {
  const mayMerge = useMay('contacts:delete');
  const [merged, setMerged] = useState<PickedContact>();
  const [first] = contacts;
  return (
    <Card title={value}>
      <Table
        label={`Contacts with ${value}`}
        rows={contacts}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Name',
            cell: (contact) => (
              <Link to="/contacts/$id" params={{ id: contact.id }}>
                {labelOf(contact)}
              </Link>
            ),
          },
          { title: 'Phone', cell: ({ phone }) => <Phone number={phone} /> },
          { title: 'Status', cell: ({ status }) => status === 'opted_out' && <Badge kind="bad">Opted out</Badge> },
          { title: 'Added', cell: ({ created_at }) => <Time at={created_at} full /> },
          {
            title: 'Into the first',
            cell: (contact) =>
              mayMerge && contact !== first ? (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Merge ${grouped(contact.phone)} into ${first && grouped(first.phone)}`}
                  onClick={() => setMerged({ id: contact.id, label: labelOf(contact) })}
                >
                  Merge
                </Button>
              ) : null,
          },
        ]}
      />
      {first && merged && (
        <MergeDialog
          isOpen
          into={{ id: first.id, label: labelOf(first) }}
          from={merged}
          onClose={() => setMerged(undefined)}
        />
      )}
    </Card>
  );
}

function labelOf({ first_name, last_name, phone }: Group['contacts'][number]): string {
  return `${first_name} ${last_name}`.trim() || grouped(phone);
}
