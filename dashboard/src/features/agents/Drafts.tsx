// The drafts of agents that wait for a person: each is sent as it is, sent changed, or discarded.

import { Button, Textarea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, usePages, useUpdates } from '../../graphql/index.ts';
import { Card, Cost, More, Refused, Time, useAct } from '../../ui/index.ts';
import styles from './agents.module.css';
import { ApproveDraft, DiscardDraft } from './mutations.ts';
import { type Run, runsListing } from './queries.ts';

export function Drafts() {
  const pages = usePages(runsListing, { agent_id: null, outcome: 'drafted' });
  useUpdates((update) => {
    if (update === 'missed' || update.__typename === 'AgentUpdate') pages.refresh();
  });
  const waiting = pages.rows.filter(({ decided_by }) => decided_by === null);
  if (waiting.length === 0) return null;
  return (
    <Card title="Drafts to approve">
      {waiting.map((run) => (
        <Draft key={run.id} run={run} onDecided={pages.refresh} />
      ))}
      <More pages={pages} />
    </Card>
  );
}

function Draft({ run: { id, draft, created_at, conversation_id }, onDecided }: { run: Run; onDecided: () => void }) {
  const approve = useAct(ApproveDraft);
  const discard = useAct(DiscardDraft);
  const [text, setText] = useState(draft ?? '');
  const refusal = approve.refusal ?? discard.refusal;
  const decide = async (done: Promise<unknown>) => {
    if (await done) onDecided();
  };
  const body = text === draft ? null : text;
  return (
    <div className={styles.draft}>
      <span className={styles.soft}>
        <Time at={created_at} full /> ·{' '}
        <Link to="/inbox/$view/$id" params={{ view: 'open', id: conversation_id }}>
          Open the conversation
        </Link>
      </span>
      <Textarea
        aria-label="Draft"
        autosize
        maxLength={1600}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Cost text={text} />
      {refusal && <Refused refusal={refusal} />}
      {useMay('messages:send') && (
        <div className={styles.acts}>
          <Button
            size="xs"
            loading={approve.isBusy}
            disabled={!text.trim()}
            onClick={() => void decide(approve.run({ run_id: id, body }))}
          >
            {body === null ? 'Send' : 'Send as changed'}
          </Button>
          <Button
            size="xs"
            variant="default"
            loading={discard.isBusy}
            onClick={() => void decide(discard.run({ run_id: id }))}
          >
            Discard
          </Button>
        </div>
      )}
    </div>
  );
}
