// The name of a draft, and whether it is saved.

import { Button, TextInput } from '@mantine/core';
import { Badge, Refused, Time } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import type { Draft } from './draft.ts';

export function NameAndState({ draft, isReadOnly }: { draft: Draft; isReadOnly: boolean }) {
  const { fields, change, refusal, save, renew } = draft;
  const isOfField = refusal?.field?.endsWith('name') || refusal?.field?.endsWith('body');
  return (
    <>
      <div className={styles.top}>
        <TextInput
          className={styles.name}
          label="Name"
          maxLength={100}
          readOnly={isReadOnly}
          value={fields.name}
          error={nameError(draft)}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        />
        {!isReadOnly && <Saved draft={draft} />}
      </div>
      {refusal?.code === 'conflict' && (
        <Refused refusal={refusal} retry={() => void renew()} retryLabel="Show what is saved" />
      )}
      {refusal && !isOfField && refusal.code !== 'conflict' && <Refused refusal={refusal} retry={() => void save()} />}
    </>
  );
}

function nameError({ fields, refusal }: Draft): string | undefined {
  if (fields.name.trim() === '') return 'Give it a name, which only you see.';
  return refusal?.field?.endsWith('name') ? refusal.text : undefined;
}

function Saved({ draft: { isChanged, isBusy, refusal, savedAt, save } }: { draft: Draft }) {
  if (refusal) return <Badge kind="bad">Not saved</Badge>;
  return (
    <span className={styles.saved} role="status">
      {isChanged || isBusy ? (
        <Button size="compact-sm" variant="subtle" loading={isBusy} onClick={() => void save()}>
          Save now
        </Button>
      ) : (
        <Badge kind="good">Saved</Badge>
      )}
      {!isChanged && savedAt && (
        <span className={styles.soft}>
          <Time at={savedAt} />
        </span>
      )}
    </span>
  );
}
