// A saved sequence that is changed: other texts are a new version, and the people under way keep theirs or move.

import { Button } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Later } from '../../shell/Later.tsx';
import { Absent, dialog, Failure, Page, Refused, Unsaved, useAct } from '../../ui/index.ts';
import { changesOf, draftOf } from './model.ts';
import { UpdateSequence } from './mutations.ts';
import { type Sequence, SequenceOne } from './queries.ts';
import { isComplete, SequenceForm } from './SequenceForm.tsx';

const MoveQuestion = dialog(async () => (await import('./MoveQuestion.tsx')).MoveQuestion);
const route = getRouteApi('/sequences/$id/edit');

export function EditSequencePage() {
  const { id } = route.useParams();
  const [turn, setTurn] = useState(0);
  const [{ data, error, fetching }, again] = useQuery({
    query: SequenceOne,
    variables: { id },
    requestPolicy: 'network-only',
  });
  const reload = () => again({ requestPolicy: 'network-only' });
  const sequence = data?.sequence;
  if (!sequence) {
    return (
      <Absent title="Sequence" isLoading={fetching} error={error} retry={reload}>
        There is no such sequence.
      </Absent>
    );
  }
  const renew = () => {
    reload();
    setTurn(turn + 1);
  };
  return (
    <Page
      title={`Edit ${sequence.name}`}
      aside={
        <Link to="/sequences/$id" params={{ id }}>
          Back to it
        </Link>
      }
    >
      {error && <Failure error={error} retry={reload} />}
      <Editor key={`${turn} ${sequence.version}`} sequence={sequence} onRenew={renew} />
    </Page>
  );
}

function Editor({ sequence, onRenew }: { sequence: Sequence; onRenew: () => void }) {
  const navigate = useNavigate();
  const act = useAct(UpdateSequence);
  const [saved] = useState(() => draftOf(sequence));
  const [draft, setDraft] = useState(saved);
  const [isAsked, setAsked] = useState(false);
  const { id, version, counts } = sequence;
  const changes = changesOf(saved, draft);
  const isChanged = Object.keys(changes).length > 0;
  const save = async (migrate: boolean) => {
    const done = await act.run({ id, changes, migrate, version });
    setAsked(false);
    if (done) await navigate({ to: '/sequences/$id', params: { id }, ignoreBlocker: true });
  };
  return (
    <>
      <SequenceForm
        draft={draft}
        refusal={act.refusal}
        onChange={(next) => {
          act.forget();
          setDraft(next);
        }}
        onSubmit={() => (changes.steps && counts.active > 0 ? setAsked(true) : void save(false))}
      >
        {act.refusal?.code === 'conflict' && (
          <Refused refusal={act.refusal} retry={onRenew} retryLabel="Show what is saved" />
        )}
        <Button type="submit" loading={act.isBusy && !isAsked} disabled={!isChanged || !isComplete(draft)}>
          {changes.steps ? `Save as version ${sequence.steps_version + 1}` : 'Save'}
        </Button>
      </SequenceForm>
      <Later isWanted={isAsked}>
        <MoveQuestion
          sequence={sequence}
          isOpen={isAsked}
          isBusy={act.isBusy}
          onClose={() => setAsked(false)}
          onChoose={(migrate) => void save(migrate)}
        />
      </Later>
      <Unsaved isChanged={isChanged} />
    </>
  );
}
