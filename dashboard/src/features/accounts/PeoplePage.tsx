// The people of the account: their roles, and invitations.

import { Button, Select, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { type ResultOf, useMay, useViewer } from '../../graphql/index.ts';
import {
  Card,
  Confirm,
  Failure,
  FormDialog,
  Icon,
  Notice,
  Refused,
  Skeleton,
  Table,
  Time,
  useAct,
  words,
} from '../../ui/index.ts';
import styles from './accounts.module.css';
import { ChangeRole, Invite, Remove, Withdraw } from './mutations.ts';
import { Invitations, People } from './queries.ts';
import { SettingsPage } from './SettingsPage.tsx';

const ROLES = [
  { value: 'owner', label: 'Owner: everything' },
  { value: 'member', label: 'Member: all but company, people, keys and billing' },
  { value: 'service', label: 'Service: connects applications only' },
];

type Role = 'owner' | 'member' | 'service';
type Person = ResultOf<typeof People>['users'][number];

export function PeoplePage() {
  const isOwner = useMay('account:write');
  const [{ data, error }, again] = useQuery({ query: People, requestPolicy: 'cache-and-network' });
  const [invited, invitedAgain] = useQuery({ query: Invitations, pause: !isOwner, requestPolicy: 'cache-and-network' });
  const [isInviting, setInviting] = useState(false);
  const waiting = invited.data?.invitations ?? [];
  const reload = () => {
    again({ requestPolicy: 'network-only' });
    if (isOwner) invitedAgain({ requestPolicy: 'network-only' });
  };
  return (
    <SettingsPage
      title="People"
      actions={
        isOwner && (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setInviting(true)}>
            Invite someone
          </Button>
        )
      }
    >
      {error && <Failure error={error} retry={again} />}
      {!data && !error && <Skeleton />}
      {data && <PeopleTable people={data.users} onChanged={reload} />}
      {waiting.length > 0 && <Waiting invitations={waiting} onChanged={reload} />}
      <FormDialog isOpen={isInviting} onClose={() => setInviting(false)} title="Invite someone">
        <InviteForm
          onInvited={() => {
            setInviting(false);
            reload();
          }}
        />
      </FormDialog>
    </SettingsPage>
  );
}

function PeopleTable({ people, onChanged }: { people: Person[]; onChanged: () => void }) {
  const isOwner = useMay('account:write');
  const viewer = useViewer();
  const role = useAct(ChangeRole);
  const remove = useAct(Remove);
  const [asked, setAsked] = useState<Person>();
  const nameOf = ({ first_name, last_name, email }: Person) => `${first_name} ${last_name}`.trim() || email;
  const confirm = async () => {
    if (!asked || !(await remove.run({ id: asked.id }))) return;
    setAsked(undefined);
    onChanged();
  };
  return (
    <>
      {role.refusal && <Refused refusal={role.refusal} />}
      <Table
        label="People"
        rows={people}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', cell: (person) => <strong>{nameOf(person)}</strong> },
          { title: 'E-mail', cell: ({ email }) => email },
          {
            title: 'Role',
            cell: (person) =>
              isOwner && person.id !== viewer.id ? (
                <Select
                  size="xs"
                  w={130}
                  allowDeselect={false}
                  aria-label={`Role of ${nameOf(person)}`}
                  data={ROLES.map(({ value }) => ({ value, label: words(value) }))}
                  value={person.role}
                  onChange={(value) => void role.run({ id: person.id, role: (value ?? 'member') as Role })}
                />
              ) : (
                words(person.role)
              ),
          },
          { title: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            title: 'Last active',
            cell: ({ last_active_at }) => (last_active_at ? <Time at={last_active_at} /> : 'never'),
          },
          {
            title: 'Actions',
            cell: (person) =>
              isOwner &&
              person.id !== viewer.id && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Remove ${nameOf(person)}`}
                  onClick={() => setAsked(person)}
                >
                  Remove
                </Button>
              ),
          },
        ]}
      />
      <Confirm
        title={`Remove ${asked && nameOf(asked)}?`}
        act={`Remove ${asked && nameOf(asked)}`}
        isOpen={asked !== undefined}
        isBusy={remove.isBusy}
        refusal={remove.refusal}
        onClose={() => setAsked(undefined)}
        onConfirm={() => void confirm()}
      >
        They are signed out at once, and the keys, webhooks and connections that they made end.
      </Confirm>
    </>
  );
}

interface WaitingProps {
  invitations: ResultOf<typeof Invitations>['invitations'];
  onChanged: () => void;
}

function Waiting({ invitations, onChanged }: WaitingProps) {
  const act = useAct(Withdraw);
  const again = useAct(Invite);
  const withdraw = async (id: number) => {
    if (await act.run({ id })) onChanged();
  };
  const resend = async (email: string, role: Role) => {
    if (await again.run({ email, role })) onChanged();
  };
  const refusal = act.refusal ?? again.refusal;
  const folder = invitations[0]?.mail_folder;
  return (
    <div style={{ marginTop: 16 }}>
      <Card title="Invitations">
        {folder && (
          <Notice kind="warn">
            <span>
              No mail server is set up: the mails with the links are files in <code>{folder}</code> on the server.
            </span>
          </Notice>
        )}
        {refusal && <Refused refusal={refusal} />}
        <Table
          label="Invitations that wait"
          rows={invitations}
          keyOf={({ id }) => id}
          columns={[
            { title: 'E-mail', cell: ({ email }) => email },
            { title: 'Role', cell: ({ role }) => words(role) },
            { title: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} full /> },
            {
              title: 'Actions',
              cell: ({ id, email, role }) => (
                <div className={styles.acts}>
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Mail again the invitation of ${email}`}
                    loading={again.isBusy}
                    onClick={() => void resend(email, role)}
                  >
                    Mail again
                  </Button>
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Withdraw the invitation of ${email}`}
                    onClick={() => void withdraw(id)}
                  >
                    Withdraw
                  </Button>
                </div>
              ),
            },
          ]}
        />
      </Card>
    </div>
  );
}

function InviteForm({ onInvited }: { onInvited: () => void }) {
  const act = useAct(Invite);
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<string>('member');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await act.run({ email, role: role as Role })) onInvited();
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="E-mail address"
        type="email"
        required
        value={email}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        data-autofocus
      />
      <Select
        label="Role"
        allowDeselect={false}
        data={ROLES}
        value={role}
        onChange={(value) => setRole(value ?? 'member')}
      />
      {act.refusal && <Refused refusal={act.refusal} />}
      <Button type="submit" loading={act.isBusy}>
        Send the invitation
      </Button>
    </form>
  );
}
