// One campaign: as a draft its editor, then its results.

import { getRouteApi } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { useUpdates } from '../../graphql/index.ts';
import { Empty, Failure, Page, Skeleton } from '../../ui/index.ts';
import { CampaignState } from './CampaignState.tsx';
import { Editor } from './Editor.tsx';
import { CampaignOne } from './queries.ts';
import { Results } from './Results.tsx';

const route = getRouteApi('/campaigns/$id');

export function CampaignPage() {
  const { id } = route.useParams();
  const [{ data, error, fetching }, again] = useQuery({
    query: CampaignOne,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  useUpdates((update) => {
    if (update === 'missed' || update.__typename === 'CampaignUpdate') again({ requestPolicy: 'network-only' });
  });
  const campaign = data?.campaign;
  if (!campaign) {
    return (
      <Page title="Campaign">
        {fetching ? <Skeleton /> : error ? <Failure error={error} /> : <Empty>There is no such campaign.</Empty>}
      </Page>
    );
  }
  return (
    <Page title={campaign.name} aside={<CampaignState status={campaign.status} />}>
      {campaign.status === 'draft' ? <Editor campaign={campaign} /> : <Results campaign={campaign} />}
    </Page>
  );
}
