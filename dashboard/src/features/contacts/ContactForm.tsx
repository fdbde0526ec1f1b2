// The form of a contact, new or known.

import { Button, Modal, Select, TagsInput, TextInput } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { useShown } from '../../shell/shown.ts';
import { faultsOf, Refused, useAct, words } from '../../ui/index.ts';
import styles from './contacts.module.css';
import { CreateContact, UpdateContact } from './mutations.ts';
import { ContactFields, type ContactItem } from './queries.ts';
import { oneOf, STAGES } from './search.ts';

const FIELDS = ['phone', 'first_name', 'last_name', 'email', 'tags'];

interface EditDialogProps {
  contact?: ContactItem & { custom_fields: { key: string; value: string }[] };
  isOpen: boolean;
  onClose: () => void;
  onSaved: (id: number) => void;
}

export function EditDialog({ contact, isOpen, onClose, onSaved }: EditDialogProps) {
  const isShown = useShown(isOpen);
  return (
    <Modal opened={isShown} onClose={onClose} title={contact ? `Edit ${contact.label}` : 'New contact'}>
      <ContactForm contact={contact} onSaved={onSaved} />
    </Modal>
  );
}

function ContactForm({ contact, onSaved }: Pick<EditDialogProps, 'contact' | 'onSaved'>) {
  const key = useRef('');
  const create = useAct(CreateContact);
  const update = useAct(UpdateContact);
  const [tags, setTags] = useState(contact?.tags ?? []);
  const [stage, setStage] = useState(contact?.pipeline_stage ?? STAGES[0]);
  const [{ data }] = useQuery({ query: ContactFields });
  const custom = data?.custom_fields ?? [];
  const fields = [...FIELDS, ...custom.map(({ key }) => `custom.${key}`)];
  const faults = faultsOf(create.refusal ?? update.refusal, fields);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? '').trim();
    const values = {
      phone: text('phone'),
      first_name: text('first_name'),
      last_name: text('last_name'),
      email: text('email'),
      tags,
      pipeline_stage: stage,
      custom_fields: custom.map(({ key }) => ({ key, value: text(`custom.${key}`) })),
    };
    key.current ||= crypto.randomUUID();
    const saved = contact
      ? (await update.run({ id: contact.id, changes: values }))?.update_contact
      : (await create.run({ contact: values, idempotency_key: key.current }))?.create_contact;
    if (saved) onSaved(saved.id);
    else key.current = '';
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        label="Phone"
        name="phone"
        type="tel"
        required
        defaultValue={contact?.phone}
        error={faults.at('phone')}
        data-autofocus
      />
      <TextInput
        label="First name"
        name="first_name"
        defaultValue={contact?.first_name}
        error={faults.at('first_name')}
      />
      <TextInput label="Last name" name="last_name" defaultValue={contact?.last_name} error={faults.at('last_name')} />
      <TextInput label="E-mail" name="email" type="email" defaultValue={contact?.email} error={faults.at('email')} />
      <TagsInput
        label="Tags"
        value={tags}
        onChange={setTags}
        placeholder="Type a tag, then Enter"
        error={faults.at('tags')}
      />
      <Select
        label="Stage"
        allowDeselect={false}
        data={STAGES.map((value) => ({ value, label: words(value) }))}
        value={stage}
        onChange={(value) => setStage(oneOf(STAGES, value) ?? STAGES[0])}
      />
      {custom.map(({ key, label, choices }) => (
        <TextInput
          key={key}
          label={label}
          description={choices.length > 0 ? `One of: ${choices.join(', ')}` : undefined}
          name={`custom.${key}`}
          defaultValue={contact?.custom_fields.find((each) => each.key === key)?.value}
          error={faults.at(`custom.${key}`)}
        />
      ))}
      {faults.elsewhere && <Refused refusal={faults.elsewhere} />}
      <Button type="submit" loading={create.isBusy || update.isBusy}>
        {contact ? 'Save the changes' : 'Add the contact'}
      </Button>
    </form>
  );
}
