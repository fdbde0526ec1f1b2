// Enrolling one contact, who agreed to it.

import { Button, Checkbox } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import { Notice, Refused, Time, useAct } from '../../ui/index.ts';
import { ContactPicker, type PickedContact } from '../contacts/index.ts';
import { Enroll } from './mutations.ts';
import type { Sequence } from './queries.ts';
import styles from './sequences.module.css';

interface EnrollFormProps {
  sequence: Pick<Sequence, 'id' | 'status'>;
  onEnrolled: () => void;
}

export function EnrollForm({ sequence: { id, status }, onEnrolled }: EnrollFormProps) {
  const key = useRef('');
  const act = useAct(Enroll);
  const [contact, setContact] = useState<PickedContact>();
  const [isAgreed, setAgreed] = useState(false);
  const [done, setDone] = useState<{ label: string; next_send_at: string; already_enrolled: boolean }>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!contact) return;
    key.current ||= crypto.randomUUID();
    const variables = { id, contact_id: contact.id, consent_attested: isAgreed, key: key.current };
    const enrolled = await act.run(variables);
    if (!enrolled) return;
    key.current = '';
    setDone({ label: contact.label, ...enrolled.enroll });
    setContact(undefined);
    setAgreed(false);
    onEnrolled();
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <ContactPicker
        label="Contact"
        value={contact}
        onChange={(next) => {
          key.current = '';
          act.forget();
          setContact(next);
        }}
      />
      <Checkbox
        label="This person agreed to get these texts from us."
        checked={isAgreed}
        onChange={({ currentTarget }) => setAgreed(currentTarget.checked)}
      />
      {act.refusal && <Refused refusal={act.refusal} />}
      {done && (
        <div role="status">
          <Notice kind="good">
            <span>
              {done.label} {done.already_enrolled ? 'was under way already' : 'is enrolled'}:{' '}
              {status === 'paused' ? 'the next text waits until the sequence goes on' : 'the next text is due '}
              {status !== 'paused' && <Time at={done.next_send_at} full />}.
            </span>
          </Notice>
        </div>
      )}
      <div>
        <Button type="submit" loading={act.isBusy} disabled={!contact || !isAgreed}>
          Enroll {contact?.label ?? 'the contact'}
        </Button>
      </div>
    </form>
  );
}
