// API keys and webhooks: the access of other programs to the account, and the events posted to them.

import { Button, Switch } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import {
  Badge,
  Card,
  Confirm,
  ConfirmButton,
  Empty,
  Failure,
  Icon,
  Secret,
  Skeleton,
  Table,
  Time,
  useAct,
} from '../../ui/index.ts';
import { Webhooks } from '../webhooks/index.ts';
import styles from './accounts.module.css';
import { KeyForm } from './KeyForm.tsx';
import { RevokeAutomationKey, RevokeKey, RotateKey } from './mutations.ts';
import { AutomationKeys, type Key, Keys } from './queries.ts';
import { ScopeList } from './ScopeList.tsx';
import { SettingsPage } from './SettingsPage.tsx';

export interface MadeKey {
  name: string;
  key: string;
}

export function KeysPage() {
  const isOwner = useMay('account:write');
  const [isWhole, setWhole] = useState(false);
  const asked = { variables: { active_only: !isWhole }, requestPolicy: 'cache-and-network' } as const;
  const [all, allAgain] = useQuery({ ...asked, query: Keys, pause: !isOwner });
  const [own, ownAgain] = useQuery({ ...asked, query: AutomationKeys, pause: isOwner });
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState<MadeKey>();
  const keys = isOwner ? all.data?.api_keys : own.data?.automation_keys;
  const error = all.error ?? own.error;
  const again = () => (isOwner ? allAgain : ownAgain)({ requestPolicy: 'network-only' });
  const show = (key: MadeKey) => {
    setMade(key);
    setAdding(false);
    again();
  };
  return (
    <SettingsPage
      title="API Keys"
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          New key
        </Button>
      }
    >
      {made && (
        <Card title={`The key ${made.name}`}>
          <p>It is shown this once. Copy it to where it is used; it cannot be read here again.</p>
          <Secret value={made.key} label="Key" />
          <Button variant="default" size="xs" onClick={() => setMade(undefined)}>
            I stored it
          </Button>
        </Card>
      )}
      {error && <Failure error={error} retry={again} />}
      {!keys && !error && <Skeleton />}
      <Switch
        mb="sm"
        label="Show revoked and expired keys"
        checked={isWhole}
        onChange={({ currentTarget }) => setWhole(currentTarget.checked)}
      />
      {keys?.length === 0 && <Empty>There are no keys yet. A key lets a program use the REST and GraphQL APIs.</Empty>}
      {keys && keys.length > 0 && <KeyTable keys={keys} onMade={show} onChanged={again} />}
      <KeyForm isOpen={isAdding} onClose={() => setAdding(false)} onMade={show} />
      {(keys || error) && <Webhooks /> /* not before: they would move under the pointer when the keys arrive */}
    </SettingsPage>
  );
}

interface KeyTableProps {
  keys: Key[];
  onMade: (key: MadeKey) => void;
  onChanged: () => void;
}

function KeyTable({ keys, onMade, onChanged }: KeyTableProps) {
  const isOwner = useMay('account:write');
  const rotate = useAct(RotateKey);
  const revoke = { owner: useAct(RevokeKey), member: useAct(RevokeAutomationKey) };
  const [asked, setAsked] = useState<Key>();
  const act = isOwner ? revoke.owner : revoke.member;
  const confirm = async () => {
    if (!asked || !(await act.run({ id: asked.id }))) return;
    setAsked(undefined);
    onChanged();
  };
  const rotated = async (key: Key) => {
    const made = await rotate.run({ id: key.id });
    if (made) onMade(made.rotate_api_key);
    return made;
  };
  return (
    <>
      <Table
        label="API keys"
        rows={keys}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', cell: ({ name }) => <strong>{name}</strong> },
          {
            title: 'Key',
            cell: ({ prefix, last_four }) => (
              <code className={styles.mono}>
                {prefix}…{last_four}
              </code>
            ),
          },
          { title: 'May', cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
          { title: 'Made by', cell: ({ creator }) => creator.user?.email ?? creator.label },
          { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
          {
            title: 'Actions',
            cell: (key) =>
              key.revoked_at ? (
                <Badge kind="bad">Revoked</Badge>
              ) : (
                <div className={styles.acts}>
                  {isOwner && (
                    <ConfirmButton
                      label="Rotate"
                      name={`Rotate ${key.name}`}
                      size="compact-sm"
                      isDangerous={false}
                      title={`Rotate ${key.name}?`}
                      act={`Rotate ${key.name}`}
                      state={rotate}
                      run={() => rotated(key)}
                    >
                      You get a new key with the same scopes. The present one works for 24 hours more.
                    </ConfirmButton>
                  )}
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Revoke ${key.name}`}
                    onClick={() => setAsked(key)}
                  >
                    Revoke
                  </Button>
                </div>
              ),
          },
        ]}
      />
      <Confirm
        title={`Revoke ${asked?.name}?`}
        act={`Revoke ${asked?.name}`}
        isOpen={asked !== undefined}
        isBusy={act.isBusy}
        refusal={act.refusal}
        onClose={() => setAsked(undefined)}
        onConfirm={() => void confirm()}
      >
        Programs that use this key are refused at once, and the keys and webhooks that it made end with it. This cannot
        be undone.
      </Confirm>
    </>
  );
}
