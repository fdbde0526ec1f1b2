// The texts of a sequence as one contact would get them, each with its time and its price.

import { type ReactNode, useState } from 'react';
import { type CombinedError, useQuery } from 'urql';
import { refusalOf, type ResultOf } from '../../graphql/index.ts';
import { Card, Empty, plural, Skeleton, Time, useSettled } from '../../ui/index.ts';
import { ContactPicker, type PickedContact, useNewestContact } from '../contacts/index.ts';
import { type SequenceDraft, stepsOf } from './model.ts';
import { DraftPreviewed, SequencePreviewed } from './queries.ts';
import styles from './sequences.module.css';

type Text = NonNullable<ResultOf<typeof SequencePreviewed>['preview_sequence']>[number];

/** Show the saved texts; of a contact under way, those that are left. */
export function SavedPreview({ id }: { id: number }) {
  return <Choice>{(contact) => <Saved id={id} contact={contact} />}</Choice>;
}

/** Show the texts as they are written. */
export function DraftPreview({ draft }: { draft: SequenceDraft }) {
  return <Choice>{(contact) => <Drafted draft={draft} contact={contact} />}</Choice>;
}

function Choice({ children }: { children: (contact: PickedContact) => ReactNode }) {
  const [chosen, setChosen] = useState<PickedContact>();
  const newest = useNewestContact();
  const contact = chosen ?? newest;
  return (
    <Card title="As a person gets it">
      <ContactPicker label="Preview for" value={contact} onChange={setChosen} />
      {contact ? children(contact) : <Empty>There is no contact yet to show the texts for.</Empty>}
    </Card>
  );
}

function Saved({ id, contact }: { id: number; contact: PickedContact }) {
  const [{ data, error }] = useQuery({
    query: SequencePreviewed,
    variables: { id, contact_id: contact.id },
    requestPolicy: 'cache-and-network',
  });
  return <Texts texts={data?.preview_sequence} error={error} label={contact.label} />;
}

function Drafted({ draft, contact }: { draft: SequenceDraft; contact: PickedContact }) {
  const written = useSettled(JSON.stringify({ steps: stepsOf(draft.steps), window: draft.window }));
  const isWritten = draft.steps.every(({ body }) => body.trim() !== '');
  const [{ data, error }] = useQuery({
    query: DraftPreviewed,
    variables: { ...JSON.parse(written), contact_id: contact.id },
    requestPolicy: 'cache-and-network',
    pause: !isWritten,
  });
  if (!isWritten) return <p className={styles.shown}>It is shown once every text is written.</p>;
  return <Texts texts={data?.preview_sequence_draft} error={error} label={contact.label} />;
}

interface TextsProps {
  texts?: Text[] | null;
  error?: CombinedError;
  label: string;
}

function Texts({ texts, error, label }: TextsProps) {
  if (error) return <p className={styles.shown}>{refusalOf(error).text}</p>;
  if (!texts) return <Skeleton rows={3} />;
  const credits = texts.reduce((sum, text) => sum + text.credits, 0);
  return (
    <>
      <ol className={styles.texts} aria-label={`Texts to ${label}`}>
        {texts.map((text) => (
          <li key={text.key}>
            <Time at={text.send_at} full />
            <p className={styles.bubble} dir="auto">
              {text.body}
            </p>
            <span className={styles.soft}>
              {plural(text.segments, 'part')} · {text.encoding === 'gsm_7' ? 'GSM-7' : 'UCS-2'} ·{' '}
              {plural(text.credits, 'credit')}
              {text.missing.length > 0 && ` · not known: ${text.missing.join(', ')}`}
            </span>
          </li>
        ))}
      </ol>
      <p className={styles.shown}>
        {plural(texts.length, 'text')} for {plural(credits, 'credit')}. Caps may put them off.
      </p>
    </>
  );
}
