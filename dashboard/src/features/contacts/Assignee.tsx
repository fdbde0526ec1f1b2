// The colleague who takes care of a contact.

import { Select } from '@mantine/core';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { offerUndo, Refused, useAct } from '../../ui/index.ts';
import { AssignContact } from './mutations.ts';
import { ContactAssignee, ContactUsers } from './queries.ts';

export function Assignee({ id }: { id: number }) {
  const [{ data }] = useQuery({ query: ContactAssignee, variables: { id }, requestPolicy: 'cache-and-network' });
  const [{ data: found }] = useQuery({ query: ContactUsers, pause: !useMay('conversations:write') });
  const act = useAct(AssignContact);
  const mayWrite = useMay('contacts:write');
  const assignee = data?.contact?.assignee_id ?? null;
  const users = (found?.users ?? []).map((user) => ({ value: String(user.id), label: nameOf(user) }));
  const assign = async (value: string | null) => {
    if (!(await act.run({ id, assignee_id: Number(value) || null }))) return;
    const name = users.find((user) => user.value === value)?.label ?? 'nobody';
    void offerUndo(`Assigned to ${name}`, () => void act.run({ id, assignee_id: assignee }));
  };
  return (
    <>
      <Select
        aria-label="Assigned to"
        placeholder="Nobody"
        size="xs"
        w={220}
        maw="100%"
        clearable
        clearButtonProps={{ 'aria-label': 'Assign to nobody' }}
        disabled={!mayWrite || act.isBusy}
        data={users}
        value={assignee === null ? null : String(assignee)}
        onChange={(value) => void assign(value)}
      />
      {act.refusal && <Refused refusal={act.refusal} />}
    </>
  );
}

export function nameOf({ first_name, last_name, email }: { first_name: string; last_name: string; email: string }) {
  return `${first_name} ${last_name}`.trim() || email;
}
