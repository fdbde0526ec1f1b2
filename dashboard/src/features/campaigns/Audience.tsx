// The choice of the people whom a campaign reaches, and of those whom it leaves out.

import { Button, Checkbox, SegmentedControl, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Badge, Card, Notice, plural, words } from '../../ui/index.ts';
import { oneOf, STAGES } from '../contacts/index.ts';
import { SegmentNames } from '../segments/index.ts';
import { type Choice, SegmentChoice, Tags } from './AudienceFields.tsx';
import styles from './campaigns.module.css';
import type { AudienceFields } from './draft.ts';
import { CampaignTags } from './queries.ts';

interface AudienceProps {
  audience: AudienceFields;
  isReadOnly: boolean;
  onChange: (audience: AudienceFields) => void;
}

const NOBODY = { everyone: false, tags: [], stage: null, segment_id: null, contact_ids: [] };

export function Audience({ audience, isReadOnly, onChange }: AudienceProps) {
  const [{ data: tagged }] = useQuery({ query: CampaignTags, requestPolicy: 'cache-and-network' });
  const [{ data: saved }] = useQuery({ query: SegmentNames, requestPolicy: 'cache-and-network' });
  const names = tagged?.tags.map(({ name }) => name) ?? [];
  const segments = saved?.segments.nodes.map(({ id, name }) => ({ value: String(id), label: name })) ?? [];
  const edit = (changes: Partial<AudienceFields>) => onChange({ ...audience, ...changes });
  return (
    <>
      <Card title="Who gets it">
        <div className={styles.form}>
          <SegmentedControl
            className={styles.choice}
            aria-label="Who gets it"
            disabled={isReadOnly}
            data={[
              { value: 'some', label: 'Some contacts' },
              { value: 'everyone', label: 'Every contact' },
            ]}
            value={audience.everyone ? 'everyone' : 'some'}
            onChange={(value) => edit({ ...NOBODY, everyone: value === 'everyone' })}
          />
          {!audience.everyone && (
            <Conditions audience={audience} tags={names} segments={segments} isReadOnly={isReadOnly} onChange={edit} />
          )}
        </div>
      </Card>
      <Card title="Excluded people">
        <div className={styles.form}>
          <p className={styles.soft}>
            People who opted out, do not want to be disturbed, or whose phone takes no texts never get it.
          </p>
          <div className={styles.pair}>
            <Tags
              label="Without the tags"
              tags={names}
              value={audience.excluded_tags}
              isReadOnly={isReadOnly}
              onChange={(excluded_tags) => edit({ excluded_tags })}
            />
            <SegmentChoice
              label="Without the segment"
              segments={segments}
              value={audience.excluded_segment_id}
              isReadOnly={isReadOnly}
              onChange={(excluded_segment_id) => edit({ excluded_segment_id })}
            />
          </div>
          <Checkbox
            label="Only people whose consent is recorded"
            description="An opt-in of their own, or one that was imported with its evidence."
            disabled={isReadOnly}
            checked={audience.requires_consent}
            onChange={({ currentTarget }) => edit({ requires_consent: currentTarget.checked })}
          />
          <Checkbox
            label="Nobody who wrote in the last 24 hours"
            description="A conversation under way is not interrupted."
            disabled={isReadOnly}
            checked={audience.skips_live_conversations}
            onChange={({ currentTarget }) => edit({ skips_live_conversations: currentTarget.checked })}
          />
        </div>
      </Card>
    </>
  );
}

interface ConditionsProps {
  audience: AudienceFields;
  tags: string[];
  segments: Choice[];
  isReadOnly: boolean;
  onChange: (changes: Partial<AudienceFields>) => void;
}

function Conditions({ audience, tags, segments, isReadOnly, onChange }: ConditionsProps) {
  const { contact_ids: ids } = audience;
  const given = [audience.tags.length, audience.stage, audience.segment_id, ids.length].filter(Boolean).length;
  return (
    <>
      {given > 1 && <p className={styles.soft}>People who meet every one of these conditions.</p>}
      <div className={styles.pair}>
        <Tags
          label="With any of the tags"
          tags={tags}
          value={audience.tags}
          isReadOnly={isReadOnly}
          onChange={(next) => onChange({ tags: next })}
        />
        <SegmentChoice
          label="In the segment"
          segments={segments}
          value={audience.segment_id}
          isReadOnly={isReadOnly}
          onChange={(segment_id) => onChange({ segment_id })}
        />
        <Select
          label="In the stage"
          placeholder="Any stage"
          clearable
          readOnly={isReadOnly}
          clearButtonProps={{ 'aria-label': 'Any stage' }}
          data={STAGES.map((stage) => ({ value: stage, label: words(stage) }))}
          value={audience.stage}
          onChange={(stage) => onChange({ stage: oneOf(STAGES, stage) ?? null })}
        />
      </div>
      {ids.length > 0 && (
        <Notice>
          <span>Only {plural(ids.length, 'contact')}, chosen one by one.</span>
          {!isReadOnly && (
            <Button size="xs" variant="default" onClick={() => onChange({ contact_ids: [] })}>
              Drop this condition
            </Button>
          )}
        </Notice>
      )}
      {segments.length === 0 && <Link to="/segments/new">Create a segment: a filter that is saved</Link>}
      {given === 0 && <Badge kind="warn">Choose tags, a segment or a stage</Badge>}
    </>
  );
}
