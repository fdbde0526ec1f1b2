// Conditions on a contact for other areas: the builder with its fields, loaded when it is shown.

import { Suspense } from 'react';
import { useQuery } from 'urql';
import type { Refusal } from '../../graphql/index.ts';
import { Failure, part, Skeleton } from '../../ui/index.ts';
import type { Group } from './model.ts';
import { SegmentFields } from './queries.ts';

const Builder = part(async () => (await import('./Builder.tsx')).Builder);

interface ConditionsProps {
  filter: Group;
  refused?: Refusal;
  onChange: (filter: Group) => void;
}

export function Conditions({ filter, refused, onChange }: ConditionsProps) {
  const [{ data, error }, again] = useQuery({ query: SegmentFields });
  if (error && !data) return <Failure error={error} retry={again} />;
  if (!data) return <Skeleton rows={2} />;
  return (
    <Suspense fallback={<Skeleton rows={2} />}>
      <Builder node={filter} fields={data.segment_fields} refused={refused} onChange={onChange} />
    </Suspense>
  );
}
