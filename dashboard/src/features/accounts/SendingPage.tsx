// The limits of texts: quiet hours and caps, with the rule that holds and its source, and the encoding.

import { Button, Checkbox, NumberInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import type { ResultOf } from '../../graphql/index.ts';
import { Badge, Card, Failure, faultsOf, Refused, Skeleton, Unsaved, useAct, useEdits } from '../../ui/index.ts';
import styles from './accounts.module.css';
import { UpdateSending } from './mutations.ts';
import { QuietHours } from './QuietHours.tsx';
import { Sending } from './queries.ts';
import { SettingsPage } from './SettingsPage.tsx';

export function SendingPage() {
  const [{ data, error }, again] = useQuery({ query: Sending, requestPolicy: 'cache-and-network' });
  const reload = () => again({ requestPolicy: 'network-only' });
  return (
    <SettingsPage title="Sending">
      {error && <Failure error={error} retry={reload} />}
      {!data && !error && <Skeleton />}
      {data && <LimitsForm account={data.account} />}
      {data && <QuietHours rules={data.quiet_hours} onChanged={reload} />}
    </SettingsPage>
  );
}

function LimitsForm({ account }: { account: ResultOf<typeof Sending>['account'] }) {
  const act = useAct(UpdateSending);
  const faults = faultsOf(act.refusal, ['weekly_cap']);
  const edits = useEdits();
  const [cap, setCap] = useState<number | string>(account.weekly_cap);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const changes = {
      weekly_cap: Number(cap),
      limits_transactional: given.has('limits_transactional'),
      smart_encoding: given.has('smart_encoding'),
      fold_accents: given.has('fold_accents'),
    };
    await edits.save(() => act.run({ changes }));
  };
  return (
    <Card title="Caps and encoding">
      <form className={styles.form} onSubmit={(event) => void submit(event)} onChange={edits.edit}>
        <Unsaved isChanged={edits.isChanged} />
        <NumberInput
          label="Most promotional texts to a person in seven days"
          description="A text above the cap waits until it fits."
          min={1}
          max={1000}
          allowDecimal={false}
          value={cap}
          onChange={setCap}
          error={faults.at('weekly_cap')}
        />
        <Checkbox
          name="limits_transactional"
          label="Quiet hours and caps hold for transactional texts too"
          defaultChecked={account.limits_transactional}
        />
        <Checkbox
          name="smart_encoding"
          label="Replace typographic characters where that saves parts"
          defaultChecked={account.smart_encoding}
        />
        <Checkbox
          name="fold_accents"
          label="Remove accents as well where that saves parts, which changes words"
          defaultChecked={account.fold_accents}
        />
        {faults.elsewhere && <Refused refusal={faults.elsewhere} />}
        <div>
          <Button type="submit" loading={act.isBusy}>
            Save the limits
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
