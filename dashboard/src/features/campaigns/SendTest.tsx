// A test: the text of the campaign to one phone, which changes nothing of the campaign.

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import { Card, faultsOf, Notice, onceOf, plural, Refused, useAct } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { SendTestCampaign } from './mutations.ts';

export function SendTest({ id, save }: { id: number; save: () => Promise<boolean> }) {
  const act = useAct(SendTestCampaign);
  const key = useRef('');
  const [to, setTo] = useState('');
  const [sent, setSent] = useState<{ to: string; segments: number; credits_remaining: number }>();
  const faults = faultsOf(act.refusal, ['to', 'phone']);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setSent(undefined);
    if (!(await save())) return;
    key.current ||= crypto.randomUUID();
    const done = await act.run({ id, to, idempotency_key: key.current });
    if (!done) return;
    key.current = '';
    setSent({ to, ...done.send_test_campaign });
  };
  return (
    <Card title="Send a test">
      <form className={styles.form} onSubmit={(event) => void submit(event)}>
        <TextInput
          type="tel"
          label="Phone"
          description="Yours, or one whose owner agreed. It costs the credits of the text."
          placeholder="+1 202 555 0143"
          autoComplete="tel"
          value={to}
          error={faults.at('to') ?? faults.at('phone')}
          onChange={({ currentTarget }) => {
            key.current = '';
            act.forget();
            setTo(currentTarget.value);
          }}
        />
        {faults.elsewhere && <Refused refusal={faults.elsewhere} />}
        {sent && (
          <div role="status">
            <Notice kind="good">
              <span>
                Sent to {sent.to}: {plural(sent.segments, 'part')}, {plural(sent.credits_remaining, 'credit')} left.
              </span>
            </Notice>
          </div>
        )}
        <div>
          <Button type="submit" variant="default" onClick={onceOf()} loading={act.isBusy} disabled={!to.trim()}>
            Send the test
          </Button>
        </div>
      </form>
    </Card>
  );
}
