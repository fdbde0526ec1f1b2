// The deletion of the account: it is requested by typing its name, and can be withdrawn until its day.

import { Button, Group, Modal, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ResultOf } from '../../graphql/index.ts';
import { Card, Notice, Refused, Time, useAct } from '../../ui/index.ts';
import { DeleteAccount, KeepAccount } from './mutations.ts';
import type { Company } from './queries.ts';

interface DeletionProps {
  account: ResultOf<typeof Company>['account'];
  onChanged: () => void;
}

export function Deletion({ account, onChanged }: DeletionProps) {
  const keep = useAct(KeepAccount);
  const [isAsked, setAsked] = useState(false);
  if (account.deletion_at)
    return (
      <Card title="Deletion">
        <Notice kind="bad">
          <span>
            This account is deleted with everything in it on <Time at={account.deletion_at} full />. It takes no new
            texts until then.
          </span>
          <Button variant="default" loading={keep.isBusy} onClick={async () => (await keep.run({})) && onChanged()}>
            Keep the account
          </Button>
        </Notice>
        {keep.refusal && <Refused refusal={keep.refusal} />}
      </Card>
    );
  return (
    <Card title="Deletion">
      <p>
        Deletes the account after some weeks, with its contacts, texts, numbers and credits. Until then you can keep it.
      </p>
      <Button variant="default" onClick={() => setAsked(true)}>
        Delete the account
      </Button>
      <Modal opened={isAsked} onClose={() => setAsked(false)} title="Delete the account?">
        <Question
          account={account}
          onClose={() => setAsked(false)}
          onDone={() => {
            setAsked(false);
            onChanged();
          }}
        />
      </Modal>
    </Card>
  );
}

interface QuestionProps {
  account: DeletionProps['account'];
  onClose: () => void;
  onDone: () => void;
}

function Question({ account: { id, company_name }, onClose, onDone }: QuestionProps) {
  const act = useAct(DeleteAccount);
  const [typed, setTyped] = useState('');
  const name = company_name || String(id);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await act.run({ confirm: typed })) onDone();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <p>
        No text is sent from now on. Contacts, texts, numbers and the remaining credits are deleted on the day of the
        deletion, and cannot be restored. All owners get a mail.
      </p>
      <TextInput
        label={`Type ${name} to confirm`}
        autoComplete="off"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        data-autofocus
      />
      {act.refusal && <Refused refusal={act.refusal} />}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          Keep it
        </Button>
        <Button type="submit" color="#b42318" loading={act.isBusy} disabled={typed.trim() !== name}>
          Delete the account
        </Button>
      </Group>
    </form>
  );
}
