// One connection to a carrier: its health, and its acts.

import { Button } from '@mantine/core';
import { useState } from 'react';
import { useClient } from 'urql';
import { freshOf, type Refusal, refusalOf, useMay } from '../../graphql/index.ts';
import {
  Badge,
  Card,
  ConfirmButton,
  count,
  Facts,
  FormDialog,
  Notice,
  percent,
  Refused,
  Table,
  Time,
  useAct,
  words,
} from '../../ui/index.ts';
import { ConnectionForm } from './ConnectionForm.tsx';
import { stateOf } from './model.ts';
import { ImportNumbers, PauseConnection, RemoveConnection, ResumeConnection } from './mutations.ts';
import { NumberForm } from './NumberForm.tsx';
import styles from './numbers.module.css';
import { type CarrierConnection, Check } from './queries.ts';

interface CardProps {
  connection: CarrierConnection;
  onChanged: () => void;
  onNumbers: () => void;
}

export function ConnectionCard({ connection, onChanged, onNumbers }: CardProps) {
  const { name, kind, health, settings, status_url, inbound_url, created_at } = connection;
  const { kind: mark, word } = stateOf(connection);
  const failure = health.last_failure;
  return (
    <Card title={name}>
      <p>
        <Badge kind={mark}>{word}</Badge>
      </p>
      {health.alerts.map(({ kind: alert, since, text }) => (
        <Notice key={alert} kind="bad">
          <span>
            {text} Since <Time at={since} full />.
          </span>
        </Notice>
      ))}
      <Facts
        rows={[
          ['Carrier', words(kind)],
          ['Last text taken', <Time key="success" at={health.last_success_at} full />],
          [
            'Last failure',
            failure ? (
              <span key="failure">
                <Time at={failure.at} full />: {words(failure.result)}, {failure.code || failure.carrier_error}
              </span>
            ) : (
              'none known'
            ),
          ],
          ['Speed', `${health.parts_per_second} parts a second, ${health.peak_parts_per_second} at the busiest`],
          ...settings.map((each): [string, string] => [words(each.name), each.value]),
          ['Status address', <code key="status">{status_url}</code>],
          ['Inbound address', <code key="inbound">{inbound_url}</code>],
          ['Made', <Time key="made" at={created_at} full />],
        ]}
      />
      {health.last_hour.length > 0 && <LastHour rows={health.last_hour} />}
      {useMay('numbers:write') && <Acts connection={connection} onChanged={onChanged} onNumbers={onNumbers} />}
    </Card>
  );
}

function LastHour({ rows }: { rows: CarrierConnection['health']['last_hour'] }) {
  return (
    <div style={{ marginTop: 16 }}>
      <Table
        label="Results of the last hour"
        rows={rows}
        keyOf={({ result, code }) => `${result} ${code}`}
        columns={[
          { title: 'Last hour', cell: ({ result }) => words(result) },
          { title: 'Code', cell: ({ code }) => code || '–' },
          { title: 'Times', isNumber: true, cell: (row) => count(row.count) },
          { title: 'Share', isNumber: true, cell: ({ share }) => percent(share) },
        ]}
      />
    </div>
  );
}

function Acts({ connection: { id, name, kind, status }, onChanged, onNumbers }: CardProps) {
  const test = useTest(id);
  const pause = useAct(PauseConnection);
  const resume = useAct(ResumeConnection);
  const remove = useAct(RemoveConnection);
  const imported = useImport(id, onNumbers);
  const [form, setForm] = useState<'rotate' | 'number'>();
  const refusal = test.refusal ?? pause.refusal ?? resume.refusal ?? imported.refusal;
  const done = () => {
    setForm(undefined);
    onChanged();
    onNumbers();
  };
  return (
    <>
      <div className={styles.acts}>
        <Button variant="default" loading={test.isBusy} onClick={() => void test.run()}>
          Test
        </Button>
        {status === 'active' ? (
          <Button variant="default" loading={pause.isBusy} onClick={() => void pause.run({ id })}>
            Pause
          </Button>
        ) : (
          <Button variant="default" loading={resume.isBusy} onClick={() => void resume.run({ id })}>
            Resume
          </Button>
        )}
        <Button variant="default" loading={imported.isBusy} onClick={() => void imported.run()}>
          Import numbers
        </Button>
        <Button variant="default" onClick={() => setForm('number')}>
          Add a number
        </Button>
        <Button variant="default" onClick={() => setForm('rotate')}>
          New credentials
        </Button>
        <ConfirmButton
          label="Remove"
          title={`Remove ${name}?`}
          act={`Remove ${name}`}
          state={remove}
          run={() => remove.run({ id })}
          onDone={onChanged}
        >
          Its credentials are deleted, and its callbacks are refused. A connection with numbers or waiting texts cannot
          be removed.
        </ConfirmButton>
      </div>
      {refusal && <Refused refusal={refusal} />}
      {test.text && <Notice kind="good">{test.text}</Notice>}
      {imported.text && <Notice kind="good">{imported.text}</Notice>}
      <FormDialog
        isOpen={form !== undefined}
        onClose={() => setForm(undefined)}
        title={form === 'number' ? `A number of ${name}` : `New credentials of ${name}`}
      >
        {form === 'number' ? (
          <NumberForm connection={id} onDone={done} />
        ) : (
          <ConnectionForm rotated={{ id, kind }} onDone={done} />
        )}
      </FormDialog>
    </>
  );
}

/** Ask the carrier whether it accepts a connection: a query, run when a person asks for it. */
function useTest(id: number) {
  const client = useClient();
  const [state, setState] = useState<{ isBusy?: boolean; text?: string; refusal?: Refusal }>({});
  const run = async () => {
    setState({ isBusy: true });
    const result = await client.query(Check, { id }, { requestPolicy: 'network-only' });
    const answer = freshOf(result)?.carrier_connection_check;
    if (!answer) return setState({ refusal: result.error && refusalOf(result.error) });
    const facts = answer.facts.map(({ name, value }) => `${words(name)}: ${value}`);
    setState({ text: [`The carrier accepts it as ${answer.carrier_account}.`, ...facts].join(' ') });
  };
  return { ...state, run };
}

function useImport(id: number, onNumbers: () => void) {
  const act = useAct(ImportNumbers);
  const [text, setText] = useState<string>();
  const run = async () => {
    const done = (await act.run({ id }))?.sync_phone_numbers;
    if (!done) return setText(undefined);
    const used = done.in_use.length > 0 ? `, left out ${done.in_use.join(', ')} of another connection` : '';
    setText(`Added ${count(done.added.length)}, had ${count(done.known.length)} before${used}.`);
    onNumbers();
  };
  return { isBusy: act.isBusy, refusal: act.refusal, text, run };
}
