// The entries between the texts of a thread: internal notes, and changes of the conversation.

import { Button } from '@mantine/core';
import { useCallback, useEffect, useEffectEvent, useReducer } from 'react';
import { useClient } from 'urql';
import { freshOf, type ResultOf, useMay, useOneAtATime, useUpdates, useViewer } from '../../graphql/index.ts';
import { Refused, Time, useAct } from '../../ui/index.ts';
import styles from './inbox.module.css';
import { DeleteNote } from './mutations.ts';
import { InboxEntries } from './queries.ts';
import { type Actor, useNames } from './useNames.ts';

type Item = NonNullable<ResultOf<typeof InboxEntries>['timeline']>['items'][number];
export type Entry = Exclude<Item, { __typename: 'TimelineMessage' }>;
type Event = Extract<Item, { __typename: 'ConversationEvent' }>;
type Note = Extract<Item, { __typename: 'Note' }>;

/** Return the notes and events of a conversation, as far back as its texts are loaded: since the time of the first. */
export function useEntries(id: number, since?: string, version?: number) {
  const client = useClient();
  const [{ items, hasOlder }, change] = useReducer(joined, { items: [], hasOlder: false });
  const load = useCallback(
    async (before: number | null) => {
      const data = freshOf(await client.query(InboxEntries, { id, before }, { requestPolicy: 'network-only' }));
      const page = data?.timeline;
      if (page) change({ items: page.items, hasOlder: page.has_older, isOlder: before !== null });
    },
    [client, id],
  );
  const refresh = useOneAtATime(() => load(null));
  const begin = useEffectEvent(refresh);
  useEffect(() => begin(), [load, version]);
  const first = items[0];
  const before = hasOlder && first && since && Date.parse(first.at) > Date.parse(since) ? first.id : undefined;
  useEffect(() => {
    if (before) void load(before);
  }, [before, load]);
  useUpdates((update) => {
    if (update === 'missed') refresh();
    else if (update.__typename === 'NoteUpdate' && update.conversation_id === id) refresh();
  });
  return { entries: items.filter((item): item is Entry => item.__typename !== 'TimelineMessage'), refresh };
}

interface Part {
  items: Item[];
  hasOlder: boolean;
}

function joined(old: Part, { items, hasOlder, isOlder }: Part & { isOlder: boolean }): Part {
  return { items: isOlder ? [...items, ...old.items] : items, hasOlder };
}

export function EntryLine({ entry, onChanged }: { entry: Entry; onChanged: () => void }) {
  return entry.__typename === 'Note' ? <NoteLine note={entry} onChanged={onChanged} /> : <EventLine event={entry} />;
}

function NoteLine({ note, onChanged }: { note: Note; onChanged: () => void }) {
  const { id, body, at, author } = note;
  const viewer = useViewer();
  const names = useNames();
  const act = useAct(DeleteNote);
  const isOwn = author.kind === 'user' && author.id === viewer.id;
  const mayWrite = useMay('conversations:write');
  const remove = async () => {
    if (await act.run({ id })) onChanged();
  };
  return (
    <div className={styles.note} role="note" aria-label="Internal note">
      <div dir="auto">{body}</div>
      <div className={styles.meta}>
        Note · {names(author)} · <Time at={at} />
        {isOwn && mayWrite && (
          <Button size="compact-xs" variant="default" loading={act.isBusy} onClick={() => void remove()}>
            Delete the note
          </Button>
        )}
      </div>
      {act.refusal && <Refused refusal={act.refusal} />}
    </div>
  );
}

function EventLine({ event }: { event: Event }) {
  const names = useNames();
  return (
    <div className={styles.event}>
      {sentence(event, names)} <Time at={event.at} />
    </div>
  );
}

function sentence({ kind, actor, assignee_id, snoozed_until }: Event, names: (actor: Actor) => string) {
  const who = names(actor);
  if (kind === 'assigned') {
    return `${who} assigned it to ${names({ kind: 'user', id: assignee_id, label: 'someone' })} ·`;
  }
  if (kind === 'snoozed' && snoozed_until) {
    return (
      <>
        {who} put it off until <Time at={snoozed_until} full /> ·
      </>
    );
  }
  return `${who} ${ACTS[kind]} ·`;
}

const ACTS: Record<Event['kind'], string> = {
  note: 'wrote a note',
  closed: 'closed it',
  reopened: 'opened it again',
  snoozed: 'put it off',
  assigned: 'assigned it',
  unassigned: 'assigned it to nobody',
  ai_state: 'changed what AI agents do in it',
};
