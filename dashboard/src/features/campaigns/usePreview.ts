// The preview of a campaign: made anew when what is saved or the time changes; the last one stays meanwhile.

import { useEffect, useEffectEvent } from 'react';
import { useQuery } from 'urql';
import type { CombinedError } from '@urql/core';
import type { ResultOf } from '../../graphql/index.ts';
import { CampaignPreview } from './previews.ts';

export type Previewed = NonNullable<ResultOf<typeof CampaignPreview>['preview_campaign']>;

export interface Preview {
  shown?: Previewed;
  error?: CombinedError;
  /** Whether a newer one is being made. */
  isStale: boolean;
  renew(): void;
}

export function usePreview(
  id: number,
  start: { at: string | null; local_at: string | null },
  version: number,
  isWanted: boolean,
): Preview {
  const [{ data, error, fetching }, execute] = useQuery({
    query: CampaignPreview,
    variables: { id, ...start },
    requestPolicy: 'network-only',
    pause: true,
  });
  const renew = useEffectEvent(() => execute({ requestPolicy: 'network-only' }));
  useEffect(() => {
    if (isWanted) renew();
  }, [isWanted, version, start.at, start.local_at]);
  return {
    shown: error ? undefined : (data?.preview_campaign ?? undefined),
    error,
    isStale: fetching,
    renew: () => execute({ requestPolicy: 'network-only' }),
  };
}
