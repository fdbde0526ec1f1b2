// The knowledge of an agent: questions with their answers, and documents.

import { Button, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useMay, usePages } from '../../graphql/index.ts';
import { Badge, Card, ConfirmButton, count, Empty, Failure, More, Refused, Skeleton, useAct } from '../../ui/index.ts';
import styles from './agents.module.css';
import { AddEntry, RemoveEntry } from './mutations.ts';
import { type Agent, entriesListing, type Entry } from './queries.ts';

const KINDS = {
  faq: { label: 'Question with its answer', title: 'Question', body: 'Answer', most: 320 },
  document: { label: 'Document', title: 'Title', body: 'Text', most: 20_000 },
};

type EntryKind = keyof typeof KINDS;

export function Knowledge({ agent: { id, name } }: { agent: Agent }) {
  const pages = usePages(entriesListing, { agent_id: id });
  const mayWrite = useMay('agents:write');
  return (
    <>
      {mayWrite && <EntryForm agent_id={id} onAdded={pages.refresh} />}
      {pages.error && <Failure error={pages.error} retry={pages.refresh} />}
      {pages.rows.length === 0 && pages.isLoading && <Skeleton rows={3} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty>{name} knows nothing yet, and hands every question over. Teach it the questions that people ask.</Empty>
      )}
      {pages.rows.length > 0 && (
        <section className={styles.list} aria-label="Knowledge">
          {pages.rows.map((entry) => (
            <EntryRow key={entry.id} entry={entry} onRemoved={pages.refresh} />
          ))}
        </section>
      )}
      <More pages={pages} />
    </>
  );
}

function EntryRow({ entry: { id, kind, title, body }, onRemoved }: { entry: Entry; onRemoved: () => void }) {
  const remove = useAct(RemoveEntry);
  return (
    <div className={styles.entry}>
      <div>
        <strong dir="auto">{title}</strong> <Badge>{KINDS[kind].label}</Badge>
        <p className={styles.text} dir="auto">
          {body.length > 400 ? `${body.slice(0, 400)}…` : body}
        </p>
        {body.length > 400 && <span className={styles.soft}>{count(body.length)} characters</span>}
      </div>
      {useMay('agents:write') && (
        <ConfirmButton
          label="Remove"
          name={`Remove ${title}`}
          size="compact-sm"
          title={`Remove ${title}?`}
          act="Remove it"
          state={remove}
          run={() => remove.run({ id })}
          onDone={onRemoved}
        >
          The agent does not answer from it any more.
        </ConfirmButton>
      )}
    </div>
  );
}

function EntryForm({ agent_id, onAdded }: { agent_id: number; onAdded: () => void }) {
  const act = useAct(AddEntry);
  const [kind, setKind] = useState<EntryKind>('faq');
  const [title, setTitle] = useState('');
  const [body, setBody] = useState('');
  const names = KINDS[kind];
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await act.run({ agent_id, kind, title, body }))) return;
    setTitle((latest) => (latest === title ? '' : latest));
    setBody((latest) => (latest === body ? '' : latest));
    onAdded();
  };
  return (
    <Card title="Teach it">
      <form className={styles.fields} onSubmit={(event) => void submit(event)}>
        <SegmentedControl
          aria-label="Kind"
          data={Object.entries(KINDS).map(([value, { label }]) => ({ value, label }))}
          value={kind}
          onChange={(value) => setKind(value as EntryKind)}
        />
        <TextInput
          label={names.title}
          required
          maxLength={200}
          value={title}
          onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        />
        <Textarea
          label={names.body}
          description={`${count(names.most)} characters at most.`}
          required
          autosize
          minRows={kind === 'faq' ? 2 : 6}
          maxRows={20}
          maxLength={names.most}
          value={body}
          onChange={({ currentTarget }) => setBody(currentTarget.value)}
        />
        {act.refusal && <Refused refusal={act.refusal} />}
        <div>
          <Button type="submit" loading={act.isBusy} disabled={!title.trim() || !body.trim()}>
            {kind === 'faq' ? 'Add the question' : 'Add the document'}
          </Button>
        </div>
      </form>
    </Card>
  );
}
