// The choice of the people whom a campaign reaches: every contact, those with tags, or a segment.

import { MultiSelect, SegmentedControl, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { SegmentNames } from '../segments/index.ts';
import { CampaignTags } from './queries.ts';

export interface Chosen {
  tags: string[];
  segmentId: number | null;
}

const KINDS = [
  { value: 'everyone', label: 'Every contact' },
  { value: 'tags', label: 'Contacts with tags' },
  { value: 'segment', label: 'A segment' },
];

interface AudienceProps {
  chosen: Chosen;
  onChange: (chosen: Chosen) => void;
}

export function Audience({ chosen: { tags, segmentId }, onChange }: AudienceProps) {
  const [kind, setKind] = useState(segmentId ? 'segment' : tags.length > 0 ? 'tags' : 'everyone');
  const [{ data: tagged }] = useQuery({ query: CampaignTags });
  const [{ data: saved }] = useQuery({ query: SegmentNames, pause: kind !== 'segment' });
  const segments = saved?.segments.nodes ?? [];
  return (
    <>
      <SegmentedControl
        aria-label="Who gets it"
        data={KINDS}
        value={kind}
        onChange={(next) => {
          setKind(next);
          onChange({ tags: [], segmentId: null });
        }}
      />
      {kind === 'tags' && (
        <MultiSelect
          label="Tags"
          description="Contacts with any of them."
          searchable
          data={tagged?.tags.map(({ name }) => name) ?? tags}
          value={tags}
          onChange={(next) => onChange({ tags: next, segmentId: null })}
          clearButtonProps={{ 'aria-label': 'No tags' }}
        />
      )}
      {kind === 'segment' && (
        <Select
          label="Segment"
          description={
            saved && segments.length === 0 && <Link to="/segments/new">No segment is saved yet: make one.</Link>
          }
          searchable
          allowDeselect={false}
          data={segments.map(({ id, name }) => ({ value: String(id), label: name }))}
          value={segmentId ? String(segmentId) : null}
          onChange={(id) => onChange({ tags: [], segmentId: Number(id) })}
        />
      )}
    </>
  );
}

export function audienceOf({ tags, segmentId }: Chosen) {
  if (segmentId) return { segment_id: segmentId };
  return tags.length > 0 ? { tags } : { everyone: true };
}
