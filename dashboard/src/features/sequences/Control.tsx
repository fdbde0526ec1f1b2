// Actions on a sequence: edit, pause, archive.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../graphql/index.ts';
import { Confirm, plural, Refused, useAct } from '../../ui/index.ts';
import { UpdateStatus } from './mutations.ts';
import type { Sequence } from './queries.ts';

export function Control({ sequence: { id, name, status, counts } }: { sequence: Sequence }) {
  const act = useAct(UpdateStatus);
  const [isAsked, setAsked] = useState(false);
  const isActive = status === 'active';
  const people = plural(counts.active, 'person', 'people');
  if (!useMay('campaigns:write') || status === 'archived') return null;
  return (
    <>
      <Button variant="default" renderRoot={(props) => <Link to="/sequences/$id/edit" params={{ id }} {...props} />}>
        Edit
      </Button>
      <Button
        variant="default"
        loading={act.isBusy && !isAsked}
        onClick={() => void act.run({ id, status: isActive ? 'paused' : 'active' })}
      >
        {isActive ? 'Pause' : 'Go on'}
      </Button>
      <Button variant="default" onClick={() => setAsked(true)}>
        Archive
      </Button>
      {act.refusal && !isAsked && <Refused refusal={act.refusal} />}
      <Confirm
        title={`Archive ${name}?`}
        act={`Archive ${name}`}
        isOpen={isAsked}
        isBusy={act.isBusy}
        refusal={act.refusal}
        onClose={() => setAsked(false)}
        onConfirm={async () => (await act.run({ id, status: 'archived' })) && setAsked(false)}
      >
        It ends for the {people} who are under way in it: they get no further text. Nobody can be enrolled after that.
      </Confirm>
    </>
  );
}
