// One template, new or saved: its text with what it costs, and how a contact would read it.

import { Button, TextInput } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { freshOf, useMay } from '../../graphql/index.ts';
import {
  Absent,
  Badge,
  Card,
  Confirm,
  faultsOf,
  Page,
  RefusedChange,
  Unsaved,
  useAct,
  useOnce,
} from '../../ui/index.ts';
import { ContactPreview } from './ContactPreview.tsx';
import { CreateTemplate, DeleteTemplate, UpdateTemplate } from './mutations.ts';
import { type Template, TemplateOne } from './queries.ts';
import styles from './templates.module.css';
import { TextEditor } from './TextEditor.tsx';

const route = getRouteApi('/templates/$id');

export function TemplatePage() {
  const { id } = route.useParams();
  const [{ data, error, fetching }, again] = useQuery({
    query: TemplateOne,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const template = data?.template;
  if (!template) {
    return (
      <Absent
        title="Template"
        isLoading={fetching}
        error={error}
        retry={() => again({ requestPolicy: 'network-only' })}
      >
        There is no such template.
      </Absent>
    );
  }
  return (
    <Page title={template.name} actions={<Remove template={template} />}>
      <Editor key={id} template={template} />
    </Page>
  );
}

export function NewTemplatePage() {
  return (
    <Page title="New template">
      <Editor />
    </Page>
  );
}

function Editor({ template }: { template?: Template }) {
  const client = useClient();
  const navigate = useNavigate();
  const create = useOnce(CreateTemplate);
  const update = useAct(UpdateTemplate);
  const mayWrite = useMay('campaigns:write');
  const mayPreview = useMay('contacts:read');
  const [begun, setBegun] = useState(template);
  const [name, setName] = useState(begun?.name ?? '');
  const [body, setBody] = useState(begun?.body ?? '');
  const { refusal } = begun ? update : create;
  const isChanged = name !== (begun?.name ?? '') || body !== (begun?.body ?? '');
  const faults = faultsOf(refusal, ['name', 'body']);
  const edit = (set: (text: string) => void) => (text: string) => {
    create.forget();
    update.forget();
    set(text);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (begun) {
      const done = await update.run({ id: begun.id, changes: { name, body }, version: begun.version });
      if (done) setBegun(done.update_template);
      return;
    }
    const made = await create.run({ name, body });
    if (made) await navigate({ to: '/templates/$id', params: { id: made.create_template.id }, ignoreBlocker: true });
  };
  const show = (stored: Template) => {
    setBegun(stored);
    setName(stored.name);
    setBody(stored.body);
  };
  if (template && begun && template.version > begun.version && !isChanged) show(template);
  const renew = async () => {
    const variables = { id: begun?.id ?? 0 };
    const stored = freshOf(await client.query(TemplateOne, variables, { requestPolicy: 'network-only' }))?.template;
    if (!stored) return;
    update.forget();
    show(stored);
  };
  return (
    <div className={styles.columns}>
      <Card title="The text">
        <form className={styles.form} onSubmit={(event) => void submit(event)}>
          <TextInput
            label="Name"
            description="Only you see it."
            value={name}
            readOnly={!mayWrite}
            error={faults.at('name')}
            onChange={({ currentTarget }) => edit(setName)(currentTarget.value)}
          />
          <TextEditor
            label="Text"
            body={body}
            isReadOnly={!mayWrite}
            error={faults.at('body')}
            onChange={edit(setBody)}
          />
          {faults.elsewhere && <RefusedChange refusal={faults.elsewhere} renew={renew} />}
          {mayWrite && (
            <div className={styles.foot}>
              <Button type="submit" loading={create.isBusy || update.isBusy} disabled={!isChanged}>
                Save the template
              </Button>
              {template && !isChanged && (
                <span role="status">
                  <Badge kind="good">Saved</Badge>
                </span>
              )}
            </div>
          )}
        </form>
      </Card>
      {mayPreview && <ContactPreview body={body} />}
      <Unsaved isChanged={isChanged && mayWrite} />
    </div>
  );
}

function Remove({ template: { id, name } }: { template: Template }) {
  const navigate = useNavigate();
  const remove = useAct(DeleteTemplate);
  const [isAsked, setAsked] = useState(false);
  const confirm = async () => {
    if (await remove.run({ id })) await navigate({ to: '/templates', ignoreBlocker: true });
  };
  if (!useMay('campaigns:write')) return null;
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        Delete
      </Button>
      <Confirm
        title={`Delete ${name}?`}
        act={`Delete ${name}`}
        isOpen={isAsked}
        isBusy={remove.isBusy}
        refusal={remove.refusal}
        onClose={() => setAsked(false)}
        onConfirm={() => void confirm()}
      >
        The template is deleted for everyone in your account. Texts and campaigns that were made from it stay as they
        are.
      </Confirm>
    </>
  );
}
