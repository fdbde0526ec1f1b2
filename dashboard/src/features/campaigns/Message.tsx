// The text of a campaign, and how it leaves.

import { Checkbox, Select } from '@mantine/core';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Card, faultsOf, grouped } from '../../ui/index.ts';
import { TextEditor } from '../templates/index.ts';
import styles from './campaigns.module.css';
import type { Draft } from './draft.ts';
import { CampaignNumbers } from './queries.ts';

export function Message({ draft, isReadOnly }: { draft: Draft; isReadOnly: boolean }) {
  const { fields, change, refusal } = draft;
  return (
    <>
      <Card title="The text">
        <TextEditor
          label="Text"
          body={fields.body}
          isFirst
          isReadOnly={isReadOnly}
          isSmartEncoded={fields.is_smart_encoded}
          error={faultsOf(refusal, ['body']).at('body')}
          onChange={(body) => change({ body })}
        />
      </Card>
      <Card title="How it leaves">
        <div className={styles.form}>
          <Sender
            value={fields.phone_number_id}
            isReadOnly={isReadOnly}
            onChange={(id) => change({ phone_number_id: id })}
          />
          <Checkbox
            label="Replace typographic characters where that saves parts"
            description="“ ” ’ – … become plain ones; links and the meaning stay."
            disabled={isReadOnly}
            checked={fields.is_smart_encoded}
            onChange={({ currentTarget }) => change({ is_smart_encoded: currentTarget.checked })}
          />
          <Checkbox
            label="Leave out people of whom a value is not known"
            description="Otherwise a placeholder without a value and without a fallback leaves nothing in the text."
            disabled={isReadOnly}
            checked={fields.is_strict}
            onChange={({ currentTarget }) => change({ is_strict: currentTarget.checked })}
          />
        </div>
      </Card>
    </>
  );
}

interface SenderProps {
  value: number | null;
  isReadOnly: boolean;
  onChange: (id: number | null) => void;
}

function Sender({ value, isReadOnly, onChange }: SenderProps) {
  const mayRead = useMay('numbers:read');
  const [{ data }] = useQuery({ query: CampaignNumbers, pause: !mayRead });
  const numbers = data?.phone_numbers ?? [];
  if (!mayRead) return null;
  return (
    <Select
      label="Sending number"
      description="The best number is the one that a person knows, or else one of their area code."
      placeholder="The best number for each person"
      clearable
      readOnly={isReadOnly}
      clearButtonProps={{ 'aria-label': 'The best number for each person' }}
      data={numbers.map(({ id, phone_number, label, is_active }) => ({
        value: String(id),
        label: [grouped(phone_number), label, !is_active && 'paused'].filter(Boolean).join(' · '),
        disabled: !is_active,
      }))}
      value={value ? String(value) : null}
      onChange={(id) => onChange(id ? Number(id) : null)}
    />
  );
}
