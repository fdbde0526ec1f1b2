// A box that tries a body with an inbound webhook, and shows what would be done. It changes nothing.

import { Button, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useClient } from 'urql';
import { freshOf, type Refusal, refusalOf, type ResultOf } from '../../graphql/index.ts';
import { Card, Facts, Notice, Refused } from '../../ui/index.ts';
import styles from './integrations.module.css';
import { TestHook } from './queries.ts';

type Outcome = ResultOf<typeof TestHook>['test_inbound_webhook'];

const EXAMPLE = `{
  "phone": "+12025550143",
  "name": "Ann"
}`;

export function TestBox({ id }: { id: number }) {
  const client = useClient();
  const [body, setBody] = useState(EXAMPLE);
  const [outcome, setOutcome] = useState<Outcome>(null);
  const [refusal, setRefusal] = useState<Refusal>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const answer = await client.query(TestHook, { id, body }, { requestPolicy: 'network-only' });
    setRefusal(answer.error && refusalOf(answer.error));
    setOutcome(freshOf(answer)?.test_inbound_webhook ?? null);
  };
  return (
    <Card title="Try it">
      <form className={styles.fields} onSubmit={(event) => void submit(event)}>
        <Textarea
          label="JSON that a sender would post"
          description="Nothing is changed. Save the actions first."
          autosize
          minRows={4}
          maxRows={16}
          spellCheck={false}
          classNames={{ input: styles.mono }}
          value={body}
          onChange={({ currentTarget }) => setBody(currentTarget.value)}
        />
        <div>
          <Button type="submit" variant="default">
            Show the result
          </Button>
        </div>
      </form>
      {refusal && <Refused refusal={refusal} />}
      <div role="status">{outcome && <Result outcome={outcome} />}</div>
    </Card>
  );
}

function Result({ outcome: { picked, result, error } }: { outcome: NonNullable<Outcome> }) {
  return (
    <div className={styles.result}>
      {error ? <Notice kind="bad">{error}</Notice> : <Notice kind="good">An event with this body: {result}</Notice>}
      {picked.length > 0 && <Facts rows={picked.map(({ name, value }) => [name, value || '(nothing found)'])} />}
    </div>
  );
}
