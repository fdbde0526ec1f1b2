// The signed-in person: name, time zone, format of times and numbers, role and password.

import { Button, Select, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { useViewer } from '../../graphql/index.ts';
import { Badge, Card, Facts, Refused, Unsaved, useAct, useEdits, words } from '../../ui/index.ts';
import styles from './accounts.module.css';
import { UpdateViewer } from './mutations.ts';
import { SettingsPage } from './SettingsPage.tsx';

export function ProfilePage() {
  const { email, role } = useViewer();
  return (
    <SettingsPage title="You">
      <Card title="Your name">
        <NameForm />
      </Card>
      <Card title="Times and numbers">
        <PlaceForm />
      </Card>
      <Card title="Your sign-in">
        <Facts
          rows={[
            ['E-mail address', email],
            ['Role', words(role)],
            [
              'Password',
              <a key="password" href="/account#change">
                Change your password
              </a>,
            ],
          ]}
        />
      </Card>
    </SettingsPage>
  );
}

function NameForm() {
  const { first_name, last_name } = useViewer();
  const act = useAct(UpdateViewer);
  const edits = useEdits();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const changes = { first_name: String(given.get('first_name')), last_name: String(given.get('last_name')) };
    await edits.save(() => act.run({ changes }));
  };
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)} onChange={edits.edit}>
      <Unsaved isChanged={edits.isChanged} />
      <TextInput name="first_name" label="First name" defaultValue={first_name} />
      <TextInput name="last_name" label="Last name" defaultValue={last_name} />
      {act.refusal && <Refused refusal={act.refusal} />}
      <div>
        <Button type="submit" loading={act.isBusy}>
          Save the name
        </Button>{' '}
        {edits.isSaved && (
          <span role="status">
            <Badge kind="good">Saved</Badge>
          </span>
        )}
      </div>
    </form>
  );
}

const ZONES = Intl.supportedValuesOf('timeZone').filter((name) => name.includes('/') && !name.startsWith('Etc/'));
const LOCALES = ['en-US', 'en-GB', 'en-CA', 'en-AU', 'de-DE', 'es-ES', 'es-MX', 'fr-FR', 'fr-CA', 'pt-BR'];

/** The time zone and the language of times and numbers; each choice is saved at once. */
function PlaceForm() {
  const { time_zone, locale } = useViewer();
  const act = useAct(UpdateViewer);
  const one = (name: 'time_zone' | 'locale', label: string, data: string[], value: string | null) => (
    <Select
      label={label}
      placeholder="As the browser"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `${label}: as the browser` }}
      data={value && !data.includes(value) ? [value, ...data] : data}
      value={value}
      onChange={(chosen) => void act.run({ changes: { [name]: chosen } })}
    />
  );
  return (
    <div className={styles.form}>
      {one('time_zone', 'Time zone', ZONES, time_zone)}
      {one('locale', 'Format of times and numbers', LOCALES, locale)}
      {act.refusal && <Refused refusal={act.refusal} />}
    </div>
  );
}
