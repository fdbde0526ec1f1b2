// Enrollment by hand: of one contact, or of everyone in a segment.

import { SegmentedControl } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../graphql/index.ts';
import { Card } from '../../ui/index.ts';
import { JobProgress } from '../contacts/JobProgress.tsx';
import { EnrollForm } from './EnrollForm.tsx';
import { EnrollSegment } from './EnrollSegment.tsx';
import type { Sequence } from './queries.ts';

const route = getRouteApi('/sequences/$id');

interface EnrollCardProps {
  sequence: Pick<Sequence, 'id' | 'status'>;
  job?: number;
  onEnrolled: () => void;
}

export function EnrollCard({ sequence, job, onEnrolled }: EnrollCardProps) {
  const { id } = sequence;
  const navigate = route.useNavigate();
  const [isSegment, setSegment] = useState(false);
  const mayEnrollMany = useMay('contacts:read');
  const follow = (next?: number) => void navigate({ search: (old) => ({ ...old, job: next }), replace: true });
  if (job) {
    return <JobProgress key={job} id={job} title="Enrolling" onEnd={onEnrolled} onClose={() => follow(undefined)} />;
  }
  return (
    <Card title="Enroll">
      {mayEnrollMany && (
        <SegmentedControl
          mb="sm"
          fullWidth
          aria-label="Enrolled contacts"
          value={isSegment ? 'segment' : 'contact'}
          onChange={(value) => setSegment(value === 'segment')}
          data={[
            { value: 'contact', label: 'One contact' },
            { value: 'segment', label: 'A segment' },
          ]}
        />
      )}
      {isSegment ? (
        <EnrollSegment id={id} onJob={follow} />
      ) : (
        <EnrollForm sequence={sequence} onEnrolled={onEnrolled} />
      )}
    </Card>
  );
}
