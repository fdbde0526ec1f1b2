// A text as one contact would read it.

import { useState } from 'react';
import { useQuery } from 'urql';
import { Card, Empty, plural, Skeleton, useSettled } from '../../ui/index.ts';
import { type Refusal, refusalOf } from '../../graphql/index.ts';
import { ContactPicker, type PickedContact, useNewestContact } from '../contacts/index.ts';
import { TextPreviewed } from './queries.ts';
import styles from './templates.module.css';

interface ContactPreviewProps {
  body: string;
  /** Whether typographic characters are replaced; without it as the account sets it. */
  isSmartEncoded?: boolean;
}

export function ContactPreview({ body, isSmartEncoded }: ContactPreviewProps) {
  const [chosen, setChosen] = useState<PickedContact>();
  const newest = useNewestContact();
  const contact = chosen ?? newest;
  return (
    <Card title="As a person reads it">
      <ContactPicker label="Contact" value={contact} onChange={setChosen} />
      {contact && body.trim() !== '' && <Shown body={body} contact={contact} isSmartEncoded={isSmartEncoded} />}
      {!contact && <Empty>There is no contact yet with values for the placeholders.</Empty>}
    </Card>
  );
}

function Shown({ body, contact, isSmartEncoded }: ContactPreviewProps & { contact: PickedContact }) {
  const settled = useSettled(body);
  const variables = { body: settled, contact_id: contact.id, is_smart_encoded: isSmartEncoded ?? null };
  const [{ data, error }] = useQuery({ query: TextPreviewed, variables });
  const preview = data?.preview_text;
  if (error) return <p className={styles.soft}>{textOf(refusalOf(error))}</p>;
  if (!preview) return <Skeleton rows={2} />;
  return (
    <>
      <p className={styles.bubble} dir="auto">
        {preview.body}
      </p>
      <p className={styles.soft}>
        {plural(preview.segments, 'part')} · {preview.encoding === 'gsm_7' ? 'GSM-7' : 'UCS-2'} ·{' '}
        {plural(preview.credits, 'credit')}
        {preview.missing.length > 0 && ` · not known of ${contact.label}: ${preview.missing.join(', ')}`}
      </p>
    </>
  );
}

function textOf({ code, text }: Refusal): string {
  return code === 'invalid_input' ? 'Correct the error to see the text.' : text;
}
