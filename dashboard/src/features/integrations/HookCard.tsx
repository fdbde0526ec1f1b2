// The mapping of the JSON that an inbound webhook receives, and the box that tries it.

import { useQuery } from 'urql';
import { Failure, Skeleton } from '../../ui/index.ts';
import { HookActions } from './HookActions.tsx';
import { Hooks } from './queries.ts';
import { TestBox } from './TestBox.tsx';

export function HookCard({ id }: { id: number }) {
  const [{ data, error }, again] = useQuery({ query: Hooks, requestPolicy: 'cache-and-network' });
  const hook = data?.inbound_webhooks.find((each) => each.id === id);
  if (error && !data) return <Failure error={error} retry={again} />;
  if (!hook) return <Skeleton rows={4} />;
  return (
    <>
      <HookActions hook={hook} />
      <TestBox id={id} />
    </>
  );
}
