// One campaign: as a draft its editor, then its results.

import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { useUpdates } from '../../graphql/index.ts';
import { content } from '../../shell/page.ts';
import { Absent, Page, Skeleton } from '../../ui/index.ts';
import { Actions } from './Actions.tsx';
import { CampaignState } from './CampaignState.tsx';
import { CampaignOne } from './queries.ts';

const Editor = lazy(() => content(() => import('./Editor.tsx'), 'Editor'));
const Results = lazy(() => content(() => import('./Results.tsx'), 'Results'));

const route = getRouteApi('/campaigns/$id');

export function CampaignPage() {
  const { id } = route.useParams();
  const [{ data, error, fetching }, again] = useQuery({
    query: CampaignOne,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const reload = () => again({ requestPolicy: 'network-only' });
  useUpdates((update) => {
    if (update === 'missed') reload();
  });
  const campaign = data?.campaign;
  if (!campaign) {
    return (
      <Absent title="Campaign" isLoading={fetching} error={error} retry={reload}>
        There is no such campaign.
      </Absent>
    );
  }
  return (
    <Page
      title={campaign.name}
      aside={<CampaignState status={campaign.status} />}
      actions={<Actions campaign={campaign} />}
    >
      <Suspense fallback={<Skeleton />}>
        {campaign.status === 'draft' ? (
          <Editor key={id} campaign={campaign} />
        ) : (
          <Results key={id} campaign={campaign} />
        )}
      </Suspense>
    </Page>
  );
}
