// The recipients of a campaign, by state, reason or answer.

import { Select } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { usePages, useUpdates } from '../../graphql/index.ts';
import { Absent, Empty, Failure, More, Page, Skeleton } from '../../ui/index.ts';
import { Chips } from './Chips.tsx';
import { groupsOf, reasonOf } from './model.ts';
import { CampaignOne } from './queries.ts';
import { RecipientTable } from './RecipientTable.tsx';
import { recipientsListing } from './results.ts';

const route = getRouteApi('/campaigns/$id/recipients');

export function RecipientsPage() {
  const { id } = route.useParams();
  const filter = route.useSearch();
  const navigate = useNavigate();
  const [{ data, error, fetching }, again] = useQuery({
    query: CampaignOne,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const pages = usePages(recipientsListing, { id, ...filter });
  useUpdates((update) => {
    if (update === 'missed') pages.refresh();
  });
  const campaign = data?.campaign;
  if (!campaign) {
    return (
      <Absent
        title="Recipients"
        isLoading={fetching}
        error={error}
        retry={() => {
          again({ requestPolicy: 'network-only' });
          pages.refresh();
        }}
      >
        There is no such campaign.
      </Absent>
    );
  }
  const reasons = filter.state ? groupsOf(campaign.counts, [filter.state]) : [];
  const isEmpty = pages.rows.length === 0 && !pages.isLoading && !pages.error;
  return (
    <Page
      title="Recipients"
      aside={
        <Link to="/campaigns/$id" params={{ id }}>
          {campaign.name}
        </Link>
      }
    >
      <Chips id={id} counts={campaign.counts} filter={filter} />
      {reasons.length > 0 && (
        <Select
          mb="md"
          maw={360}
          aria-label="Reason"
          placeholder="Any reason"
          clearable
          clearButtonProps={{ 'aria-label': 'Any reason' }}
          data={reasons.map(({ reason }) => ({ value: reason, label: reasonOf(reason) }))}
          value={filter.reason ?? null}
          onChange={(reason) =>
            void navigate({
              to: '/campaigns/$id/recipients',
              params: { id },
              search: { ...filter, reason: reason ?? undefined },
              replace: true,
            })
          }
        />
      )}
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton />}
      {isEmpty && <Empty>Nobody is in this group.</Empty>}
      {pages.rows.length > 0 && <RecipientTable rows={pages.rows} />}
      <More pages={pages} />
    </Page>
  );
}
