// The name of a draft, and whether it is saved.

import { Button, TextInput } from '@mantine/core';
import { Badge, faultsOf, Refused, Time } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import type { Draft } from './draft.ts';

interface NameAndStateProps {
  draft: Draft;
  isReadOnly: boolean;
  /** Whether the field of the text is shown, which shows its own refusal. */
  showsBody: boolean;
}

export function NameAndState({ draft, isReadOnly, showsBody }: NameAndStateProps) {
  const { fields, change, refusal, save, renew } = draft;
  const faults = faultsOf(refusal, showsBody ? ['name', 'body'] : ['name']);
  return (
    <>
      <div className={styles.top}>
        <TextInput
          className={styles.name}
          label="Name"
          maxLength={100}
          readOnly={isReadOnly}
          value={fields.name}
          error={fields.name.trim() === '' ? 'Give it a name, which only you see.' : faults.at('name')}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        />
        {!isReadOnly && <Saved draft={draft} />}
      </div>
      {refusal?.code === 'conflict' && (
        <Refused refusal={refusal} retry={() => void renew()} retryLabel="Show what is saved" />
      )}
      {faults.elsewhere && refusal?.code !== 'conflict' && (
        <Refused refusal={faults.elsewhere} retry={() => void save()} />
      )}
    </>
  );
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
