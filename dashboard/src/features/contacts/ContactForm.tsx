// The form of a contact, new or known.

import { Button, Select, TagsInput, TextInput } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { useShown } from '../../shell/shown.ts';
import { faultsOf, FormDialog, Refused, useAct, words } from '../../ui/index.ts';
import styles from './contacts.module.css';
import { editedOf, type Known, type Values } from './changes.ts';
import { AddTag, CreateContact, RemoveTag, UpdateContact } from './mutations.ts';
import { ContactFields } from './queries.ts';
import { oneOf, STAGES } from './search.ts';

const FIELDS = ['phone', 'first_name', 'last_name', 'email', 'tags', 'tag'];

interface EditDialogProps {
  contact?: Known;
  isOpen: boolean;
  onClose: () => void;
  onSaved: (id: number) => void;
}

export function EditDialog({ contact, isOpen, onClose, onSaved }: EditDialogProps) {
  const isShown = useShown(isOpen);
  return (
    <FormDialog isOpen={isShown} onClose={onClose} title={contact ? `Edit ${contact.label}` : 'New contact'}>
      <ContactForm contact={contact} onSaved={onSaved} />
    </FormDialog>
  );
}

function ContactForm({ contact: latest, onSaved }: Pick<EditDialogProps, 'contact' | 'onSaved'>) {
  const [contact] = useState(latest);
  const { save, isBusy, refusal } = useSaving(contact);
  const [tags, setTags] = useState(contact?.tags ?? []);
  const [stage, setStage] = useState(contact?.pipeline_stage ?? STAGES[0]);
  const [{ data }] = useQuery({ query: ContactFields });
  const custom = data?.custom_fields ?? [];
  const fields = [...FIELDS, ...custom.map(({ key }) => `custom.${key}`)];
  const faults = faultsOf(refusal, fields);
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
    const id = await save(values);
    if (id !== undefined) onSaved(id);
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
        error={faults.at('tags') ?? faults.at('tag')}
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
      <Button type="submit" loading={isBusy}>
        {contact ? 'Save the changes' : 'Add the contact'}
      </Button>
    </form>
  );
}

/** Return the way to save the values of the form: of a known contact, only those that were changed. */
function useSaving(contact: Known | undefined) {
  const key = useRef('');
  const [create, update] = [useAct(CreateContact), useAct(UpdateContact)];
  const [add, remove] = [useAct(AddTag), useAct(RemoveTag)];
  const acts = [create, update, add, remove];
  const change = async (known: Known, values: Values) => {
    const { id } = known;
    const { changes, added, removed } = editedOf(known, values);
    if (Object.keys(changes).length > 0 && !(await update.run({ id, changes }))) return undefined;
    for (const tag of removed) if (!(await remove.run({ id, tag }))) return undefined;
    for (const tag of added) if (!(await add.run({ id, tag }))) return undefined;
    return id;
  };
  const begin = async (values: Values) => {
    key.current ||= crypto.randomUUID();
    const made = await create.run({ contact: values, idempotency_key: key.current });
    if (!made) key.current = '';
    return made?.create_contact?.id;
  };
  return {
    save: (values: Values) => {
      for (const act of acts) act.forget();
      return contact ? change(contact, values) : begin(values);
    },
    isBusy: acts.some(({ isBusy }) => isBusy),
    refusal: acts.find((act) => act.refusal)?.refusal,
  };
}
