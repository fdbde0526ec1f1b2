// The company: the name that recipients are told, and the limits of what is sent.

import { Button, Checkbox, NumberInput, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import type { ResultOf } from '../../graphql/index.ts';
import { Badge, Card, Failure, Notice, Refused, Skeleton, Table, Time, useAct, words } from '../../ui/index.ts';
import styles from './accounts.module.css';
import { UpdateCompany } from './mutations.ts';
import { Company } from './queries.ts';
import { SettingsPage } from './SettingsPage.tsx';

type Data = ResultOf<typeof Company>;

export function CompanyPage() {
  const [{ data, error }, again] = useQuery({ query: Company });
  return (
    <SettingsPage title="Company and sending">
      {error && <Failure error={error} retry={again} />}
      {!data && !error && <Skeleton />}
      {data?.account.deletion_at && (
        <Notice kind="bad">
          This account is deleted with everything in it on <Time at={data.account.deletion_at} full />.
        </Notice>
      )}
      {data && <CompanyForm account={data.account} />}
      {data && <QuietHours rules={data.quiet_hours} />}
    </SettingsPage>
  );
}

function CompanyForm({ account }: { account: Data['account'] }) {
  const act = useAct(UpdateCompany);
  const [isSaved, setSaved] = useState(false);
  const [cap, setCap] = useState<number>(account.weekly_cap);
  const wrong = (name: string) => (act.refusal?.field === name ? act.refusal.text : undefined);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? '').trim();
    const changes = {
      company_name: text('company_name'),
      region: text('region'),
      support_contact: text('support_contact'),
      time_zone: text('time_zone') || null,
      weekly_cap: cap,
      limits_transactional: given.has('limits_transactional'),
      smart_encoding: given.has('smart_encoding'),
      fold_accents: given.has('fold_accents'),
    };
    setSaved((await act.run({ changes })) !== undefined);
  };
  return (
    <Card title="Company">
      <form className={styles.form} onSubmit={(event) => void submit(event)} onChange={() => setSaved(false)}>
        <TextInput
          name="company_name"
          label="Company name"
          description="The replies to STOP and HELP name it."
          defaultValue={account.company_name}
          error={wrong('company_name')}
          required
        />
        <TextInput
          name="support_contact"
          label="Contact for help"
          defaultValue={account.support_contact}
          error={wrong('support_contact')}
        />
        <TextInput
          name="region"
          label="Country"
          description="Two letters, such as US: national numbers are of it."
          defaultValue={account.region}
          error={wrong('region')}
        />
        <TextInput
          name="time_zone"
          label="Time zone"
          placeholder="America/Chicago"
          defaultValue={account.time_zone ?? ''}
          error={wrong('time_zone')}
        />
        <NumberInput
          label="Most promotional texts to a person in seven days"
          min={1}
          max={1000}
          value={cap}
          onChange={(value) => setCap(Number(value))}
          error={wrong('weekly_cap')}
        />
        <Checkbox
          name="limits_transactional"
          label="Quiet hours and caps hold for personal texts too"
          defaultChecked={account.limits_transactional}
        />
        <Checkbox
          name="smart_encoding"
          label="Replace typographic characters where that saves parts"
          defaultChecked={account.smart_encoding}
        />
        <Checkbox
          name="fold_accents"
          label="Remove accents as well where that saves parts"
          defaultChecked={account.fold_accents}
        />
        {act.refusal && !act.refusal.field && <Refused refusal={act.refusal} />}
        <div>
          <Button type="submit" loading={act.isBusy}>
            Save the settings
          </Button>{' '}
          {isSaved && (
            <span role="status">
              <Badge kind="good">Saved</Badge>
            </span>
          )}
        </div>
      </form>
    </Card>
  );
}

function QuietHours({ rules }: { rules: Data['quiet_hours'] }) {
  return (
    <Card title="Hours in which promotional texts may leave">
      <Table
        label="Rules of quiet hours"
        rows={rules}
        keyOf={({ id }) => id}
        columns={[
          { title: 'For', cell: ({ jurisdiction }) => jurisdiction },
          { title: 'Between', cell: ({ start, end }) => `${start}–${end}` },
          {
            title: 'Days',
            cell: ({ weekdays }) =>
              weekdays.length === 7 ? 'every day' : weekdays.map((day) => words(day).slice(0, 3)).join(' '),
          },
          { title: 'At most', cell: ({ cap }) => (cap === null ? '–' : `${cap} a day`) },
          { title: 'By', cell: ({ origin, source }) => (origin === 'law' ? source : 'your account') },
        ]}
      />
    </Card>
  );
}
