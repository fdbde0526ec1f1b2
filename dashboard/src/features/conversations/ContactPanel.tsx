// The contact of a conversation: its facts, and the stage and tags, which are changed in place.

import { Select, TagsInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ResultOf, useMay } from '../../graphql/index.ts';
import { Badge, Facts, offerUndo, Phone, Refused, Time, useAct, words } from '../../ui/index.ts';
import { oneOf, STAGES } from '../contacts/index.ts';
import styles from './inbox.module.css';
import { AddTag, ChangeContact, RemoveTag } from './mutations.ts';
import type { InboxConversation } from './queries.ts';

type Shown = NonNullable<ResultOf<typeof InboxConversation>['conversation']>['contact'];

export function ContactPanel({ contact }: { contact: Shown }) {
  const { id, label, phone, email, score, created_at } = contact;
  const state = contact.status === 'opted_out' ? 'Opted out' : contact.dnd_sms ? 'Do not disturb' : 'May be texted';
  const mayRead = useMay('contacts:read');
  return (
    <aside className={styles.aside} aria-label="Contact">
      <h2>
        {mayRead ? (
          <Link to="/contacts/$id" params={{ id }}>
            {label}
          </Link>
        ) : (
          label
        )}
      </h2>
      <p>
        <Badge kind={state === 'May be texted' ? 'good' : 'bad'}>{state}</Badge>
      </p>
      <Facts
        rows={[
          ['Phone', <Phone key="phone" number={phone} />],
          ['E-mail', email || '–'],
          ['Score', score],
          ['Added', <Time key="added" at={created_at} />],
        ]}
      />
      <Changeable contact={contact} />
    </aside>
  );
}

function Changeable({ contact: { id, pipeline_stage, tags } }: { contact: Shown }) {
  const act = useAct(ChangeContact);
  const [add, remove] = [useAct(AddTag), useAct(RemoveTag)];
  const refusal = act.refusal ?? add.refusal ?? remove.refusal;
  const move = async (stage: typeof pipeline_stage) => {
    if (!(await act.run({ id, changes: { pipeline_stage: stage } }))) return;
    void offerUndo(`Stage: ${words(stage)}`, () => void act.run({ id, changes: { pipeline_stage } }));
  };
  const tag = async (added: string[], removed: string[]) => {
    const results = [];
    for (const name of added) results.push(await add.run({ id, tag: name }));
    for (const name of removed) results.push(await remove.run({ id, tag: name }));
    return results.every((result) => result !== undefined);
  };
  const change = async (next: string[]) => {
    const added = next.filter((name) => !tags.includes(name));
    const removed = tags.filter((name) => !next.includes(name));
    if (!(await tag(added, removed))) return;
    const done = added.length > 0 ? `Tagged ${added.join(', ')}` : `Removed the tag ${removed.join(', ')}`;
    void offerUndo(done, () => void tag(removed, added));
  };
  const isReadOnly = !useMay('contacts:write');
  return (
    <div className={styles.changeable}>
      <Select
        size="xs"
        label="Stage"
        readOnly={isReadOnly}
        allowDeselect={false}
        data={STAGES.map((value) => ({ value, label: words(value) }))}
        value={pipeline_stage}
        onChange={(value) => void move(oneOf(STAGES, value) ?? pipeline_stage)}
      />
      <TagsInput
        size="xs"
        label="Tags"
        placeholder={isReadOnly ? undefined : 'Type a tag, then Enter'}
        readOnly={isReadOnly}
        value={tags}
        onChange={(next) => void change(next)}
      />
      {refusal && <Refused refusal={refusal} />}
    </div>
  );
}
