// The company: the name that recipients are told, its export, and its deletion.

import { Button, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { useClient, useQuery } from 'urql';
import { type ResultOf, ViewerQuery } from '../../graphql/index.ts';
import { Badge, Card, Failure, faultsOf, Refused, Skeleton, Unsaved, useAct, useEdits } from '../../ui/index.ts';
import styles from './accounts.module.css';
import { Deletion } from './Deletion.tsx';
import { Export } from './Export.tsx';
import { UpdateCompany } from './mutations.ts';
import { Company } from './queries.ts';
import { SettingsPage } from './SettingsPage.tsx';

const FIELDS = ['company_name', 'support_contact', 'region', 'time_zone'];

type Data = ResultOf<typeof Company>;

export function CompanyPage() {
  const [{ data, error }, again] = useQuery({ query: Company });
  return (
    <SettingsPage title="Company">
      {error && <Failure error={error} retry={again} />}
      {!data && !error && <Skeleton />}
      {data && (
        <>
          <CompanyForm account={data.account} />
          <Export />
          <Deletion account={data.account} onChanged={() => again({ requestPolicy: 'network-only' })} />
        </>
      )}
    </SettingsPage>
  );
}

function CompanyForm({ account }: { account: Data['account'] }) {
  const act = useAct(UpdateCompany);
  const client = useClient();
  const edits = useEdits();
  const faults = faultsOf(act.refusal, FIELDS);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? '').trim();
    const changes = {
      company_name: text('company_name'),
      region: text('region'),
      support_contact: text('support_contact'),
      time_zone: text('time_zone') || null,
    };
    const isAccepted = await edits.save(() => act.run({ changes }));
    if (isAccepted) await client.query(ViewerQuery, {}, { requestPolicy: 'network-only' });
  };
  return (
    <Card title="Company">
      <form className={styles.form} onSubmit={(event) => void submit(event)} onChange={edits.edit}>
        <Unsaved isChanged={edits.isChanged} />
        <TextInput
          name="company_name"
          label="Company name"
          description="The replies to STOP and HELP name it."
          defaultValue={account.company_name}
          error={faults.at('company_name')}
          required
        />
        <TextInput
          name="support_contact"
          label="Contact for help"
          description="The reply to HELP names it: a phone number or an e-mail address."
          defaultValue={account.support_contact}
          error={faults.at('support_contact')}
        />
        <TextInput
          name="region"
          label="Country"
          description="Two letters, such as US. National phone numbers belong to it."
          defaultValue={account.region}
          error={faults.at('region')}
        />
        <TextInput
          name="time_zone"
          label="Time zone"
          description="Holds for phones whose place is not known, such as America/Chicago."
          defaultValue={account.time_zone ?? ''}
          error={faults.at('time_zone')}
        />
        {faults.elsewhere && <Refused refusal={faults.elsewhere} />}
        <div>
          <Button type="submit" loading={act.isBusy}>
            Save the company
          </Button>{' '}
          {edits.isSaved && (
            <span role="status">
              <Badge kind="good">Saved</Badge>
            </span>
          )}
        </div>
      </form>
    </Card>
  );
}
