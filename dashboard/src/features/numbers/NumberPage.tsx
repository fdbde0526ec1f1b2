// One number: its label and pace, its health with every deduction, signs of spam, and what was delivered.

import { Button, NumberInput, TextInput } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import {
  Card,
  ConfirmButton,
  Empty,
  Facts,
  Failure,
  grouped,
  Page,
  Refused,
  Skeleton,
  Time,
  useAct,
} from '../../ui/index.ts';
import { DeliveryCard } from './DeliveryCard.tsx';
import { HealthCard } from './HealthCard.tsx';
import { Release, Rename, SetActive, SetPace, SetPrimary } from './mutations.ts';
import { NumberState } from './NumbersPage.tsx';
import styles from './numbers.module.css';
import { Numbers, type PhoneNumber } from './queries.ts';
import { SpamCard } from './SpamCard.tsx';

const route = getRouteApi('/numbers/$id');

export function NumberPage() {
  const { id } = route.useParams();
  const [{ data, error }, again] = useQuery({ query: Numbers, requestPolicy: 'cache-and-network' });
  const number = data?.phone_numbers.find((each) => each.id === id);
  const readsMessages = useMay('messages:read');
  const mayWrite = useMay('numbers:write');
  const reload = () => again({ requestPolicy: 'network-only' });
  if (!number) {
    return (
      <Page title="Number">
        {data ? (
          <Empty>There is no such number, or it was released.</Empty>
        ) : error ? (
          <Failure error={error} retry={reload} />
        ) : (
          <Skeleton />
        )}
      </Page>
    );
  }
  return (
    <Page
      title={grouped(number.phone_number)}
      aside={<NumberState number={number} />}
      actions={mayWrite && <Actions number={number} onChanged={reload} />}
    >
      <HealthCard id={id} />
      <SpamCard id={id} />
      {readsMessages && <DeliveryCard id={id} />}
      <Card title="Settings">
        {mayWrite && <LabelForm number={number} />}
        {mayWrite && <PaceForm number={number} />}
        <Facts
          rows={[
            ['Connection', number.carrier],
            ['Since', <Time key="since" at={number.created_at} full />],
          ]}
        />
      </Card>
    </Page>
  );
}

function Actions({ number, onChanged }: { number: PhoneNumber; onChanged: () => void }) {
  const { id, is_active, is_primary, phone_number } = number;
  const navigate = useNavigate();
  const active = useAct(SetActive);
  const primary = useAct(SetPrimary);
  const release = useAct(Release);
  const refusal = active.refusal ?? primary.refusal;
  const change = async (done: Promise<unknown>) => {
    if (await done) onChanged();
  };
  return (
    <>
      {is_active && !is_primary && (
        <Button variant="default" loading={primary.isBusy} onClick={() => void change(primary.run({ id }))}>
          Make it the primary
        </Button>
      )}
      <Button
        variant="default"
        loading={active.isBusy}
        onClick={() => void change(active.run({ id, active: !is_active }))}
      >
        {is_active ? 'Pause' : 'Resume'}
      </Button>
      <ConfirmButton
        label="Release"
        title={`Release ${grouped(phone_number)}?`}
        act={`Release ${grouped(phone_number)}`}
        state={release}
        run={() => release.run({ id })}
        onDone={() => void navigate({ to: '/numbers' })}
      >
        Nothing is sent from this number or received on it any more. Its texts that wait fail at once and are refunded.
        Conversations on it go on from another number.
      </ConfirmButton>
      {refusal && <Refused refusal={refusal} />}
    </>
  );
}

function LabelForm({ number: { id, label } }: { number: PhoneNumber }) {
  const act = useAct(Rename);
  const [text, setText] = useState(label);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    await act.run({ id, label: text.trim() });
  };
  return (
    <form className={styles.form} onSubmit={(event) => void save(event)}>
      <TextInput
        label="Label"
        description="Only you see it."
        value={text}
        error={act.refusal?.text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Button type="submit" variant="default" loading={act.isBusy} disabled={!text.trim() || text.trim() === label}>
        {text.trim() === label ? 'Saved' : 'Save the label'}
      </Button>
    </form>
  );
}

function PaceForm({ number: { id, parts_per_second } }: { number: PhoneNumber }) {
  const act = useAct(SetPace);
  const [pace, setPace] = useState<number | string>(parts_per_second ?? '');
  const wanted = pace === '' ? null : Number(pace);
  const isSaved = wanted === parts_per_second;
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act.run({ id, pace: wanted });
    if (done) setPace(done.set_phone_number_pace.parts_per_second ?? '');
  };
  return (
    <form className={styles.form} onSubmit={(event) => void save(event)}>
      <NumberInput
        label="Parts a second at most"
        description="Networks filter texts that leave faster than the number is registered for. Empty for the usual pace."
        min={0}
        decimalScale={2}
        value={pace}
        error={act.refusal?.text}
        hideControls
        onChange={setPace}
      />
      <Button type="submit" variant="default" loading={act.isBusy} disabled={isSaved}>
        {isSaved ? 'Saved' : 'Save the pace'}
      </Button>
    </form>
  );
}
