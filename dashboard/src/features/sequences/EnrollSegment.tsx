// Enrolling everyone whom a segment has: their number is shown before, and a job carries it out.

import { Button, Checkbox, Select } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { count, plural, Refused, useAct } from '../../ui/index.ts';
import { BulkEnroll } from '../contacts/mutations.ts';
import { SegmentNames, SegmentSize } from '../segments/index.ts';
import styles from './sequences.module.css';

export function EnrollSegment({ id, onJob }: { id: number; onJob: (id: number) => void }) {
  const act = useAct(BulkEnroll);
  const [segment, setSegment] = useState<string | null>(null);
  const [isAgreed, setAgreed] = useState(false);
  const [{ data: names }] = useQuery({ query: SegmentNames, requestPolicy: 'cache-and-network' });
  const segment_id = Number(segment);
  const [{ data, fetching }] = useQuery({
    query: SegmentSize,
    variables: { id: segment_id },
    pause: !segment,
    requestPolicy: 'network-only',
  });
  const size = segment && !fetching ? data?.preview_segment : undefined;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const made = await act.run({ contacts: { segment_id }, sequence_id: id });
    if (made) onJob(made.bulk_enroll.id);
  };
  const people = size && `${plural(size.total_count, 'contact')}${size.is_exact ? '' : ' or more'}`;
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <Select
        label="Segment"
        placeholder="A saved segment"
        searchable
        nothingFoundMessage="No segment matches."
        data={names?.segments.nodes.map((each) => ({ value: String(each.id), label: each.name })) ?? []}
        value={segment}
        onChange={(value) => {
          act.forget();
          setAgreed(false);
          setSegment(value);
        }}
      />
      {size && (
        <p className={styles.soft} role="status">
          {people}, of whom {count(size.sendable_count)} can be texted now. Contacts that are in the sequence already
          stay as they are.
        </p>
      )}
      <Checkbox
        label="Each of them gave prior express written consent to these texts."
        checked={isAgreed}
        onChange={({ currentTarget }) => setAgreed(currentTarget.checked)}
      />
      {act.refusal && <Refused refusal={act.refusal} />}
      <div>
        <Button type="submit" loading={act.isBusy} disabled={!size?.total_count || !isAgreed}>
          {people ? `Enroll ${people}` : 'Enroll the segment'}
        </Button>
      </div>
    </form>
  );
}
