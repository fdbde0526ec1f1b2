// One contact: who it is, whether they may be texted and why, and what they agreed to.

import { Button } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useQuery } from 'urql';
import { type ResultOf, useMay, useRefresh, useUpdates } from '../../graphql/index.ts';
import {
  Badge,
  Card,
  Confirm,
  Empty,
  Facts,
  Failure,
  Page,
  Phone,
  plural,
  Refused,
  Skeleton,
  Table,
  Time,
  useAct,
  words,
} from '../../ui/index.ts';
import { Assignee } from './Assignee.tsx';
import { useNames } from '../conversations/index.ts';
import { EditDialog } from './ContactForm.tsx';
import styles from './contacts.module.css';
import { Explanation } from './Explanation.tsx';
import { MergeDialog } from './MergeDialog.tsx';
import { DeleteContact, EvidenceLink } from './mutations.ts';
import { ContactPageQuery } from './queries.ts';
import { concerns } from './timeline.ts';
import { Timeline } from './Timeline.tsx';

const route = getRouteApi('/contacts/$id');

export type ShownContact = NonNullable<ResultOf<typeof ContactPageQuery>['contact']>;

export function ContactPage() {
  const { id } = route.useParams();
  const [{ data, error, fetching, stale }, again] = useQuery({
    query: ContactPageQuery,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const refresh = useRefresh({ fetching, stale }, again);
  useUpdates((update) => {
    if (update === 'missed' || concerns(update, id)) refresh();
  });
  const mayText = useMay('messages:send');
  const contact = data?.contact;
  if (!contact) {
    return (
      <Page title="Contact">
        {fetching ? (
          <Skeleton />
        ) : error ? (
          <Failure error={error} retry={again} />
        ) : (
          <Empty>There is no such contact.</Empty>
        )}
      </Page>
    );
  }
  return (
    <Page title={contact.label} aside={<Standing contact={contact} />} actions={<ContactActions contact={contact} />}>
      <div className={styles.columns}>
        <div>
          <About contact={contact} />
          <Card title="Why this score">
            <Facts
              rows={contact.score_reasons.map(({ reason, points }) => [
                words(reason),
                `${points > 0 ? '+' : ''}${points}`,
              ])}
            />
          </Card>
        </div>
        <div>
          {mayText && <Explanation id={id} />}
          <Timeline key={id} id={id} />
        </div>
      </div>
      <Evidence contact={contact} />
    </Page>
  );
}

function Standing({ contact }: { contact: ShownContact }) {
  if (contact.status === 'opted_out') return <Badge kind="bad">Opted out</Badge>;
  return contact.dnd_sms ? <Badge kind="warn">Do not disturb</Badge> : <Badge kind="good">Active</Badge>;
}

function ContactActions({ contact }: { contact: ShownContact }) {
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'edit' | 'merge' | 'delete'>();
  const remove = useAct(DeleteContact);
  const mayWrite = useMay('contacts:write');
  const mayDelete = useMay('contacts:delete');
  const { id, label, conversation } = contact;
  const confirm = async () => {
    if (await remove.run({ id })) await navigate({ to: '/contacts' });
  };
  return (
    <>
      {conversation && (
        <Button
          variant="default"
          renderRoot={(props) => (
            <Link to="/inbox/$view/$id" params={{ view: 'open', id: conversation.id }} {...props} />
          )}
        >
          Conversation
        </Button>
      )}
      {mayDelete && (
        <>
          <Button variant="default" onClick={() => setAsked('merge')}>
            Merge
          </Button>
          <Button variant="default" onClick={() => setAsked('delete')}>
            Delete
          </Button>
          <MergeDialog into={contact} isOpen={asked === 'merge'} onClose={() => setAsked(undefined)} />
        </>
      )}
      {mayWrite && <Button onClick={() => setAsked('edit')}>Edit</Button>}
      <EditDialog
        contact={contact}
        isOpen={asked === 'edit'}
        onClose={() => setAsked(undefined)}
        onSaved={() => setAsked(undefined)}
      />
      <Confirm
        title={`Delete ${label}?`}
        act={`Delete ${label}`}
        isOpen={asked === 'delete'}
        isBusy={remove.isBusy}
        refusal={remove.refusal}
        onClose={() => setAsked(undefined)}
        onConfirm={() => void confirm()}
      >
        Their messages, conversation and enrollments are deleted too. An opt-out stays in force. This cannot be undone.
      </Confirm>
    </>
  );
}

function About({ contact }: { contact: ShownContact }) {
  const mayAssign = useMay('conversations:read');
  const { id, phone, email, pipeline_stage, tags, source, time_zone, line_type, region, created_at, score } = contact;
  return (
    <Card title="About">
      <Facts
        rows={[
          [
            'Phone',
            <span key="phone">
              <Phone number={phone} />
              {[region, line_type !== 'unknown' && words(line_type).toLowerCase()]
                .filter(Boolean)
                .map((each) => `, ${each}`)}
            </span>,
          ],
          ['E-mail', email || '–'],
          ['Stage', words(pipeline_stage)],
          ...(mayAssign ? [['Assigned to', <Assignee key="assignee" id={id} />] as [string, ReactNode]] : []),
          ['Tags', tags.join(', ') || '–'],
          ['Source', source ? words(source) : '–'],
          ['Time zone', time_zone ?? 'by the area code'],
          ['Score', score],
          ['Added', <Time key="added" at={created_at} full />],
          ...contact.custom_fields.map(({ label, value }): [string, string] => [label, value]),
        ]}
      />
    </Card>
  );
}

function Evidence({ contact }: { contact: ShownContact }) {
  const names = useNames();
  const link = useAct(EvidenceLink);
  const open = async () => {
    const made = await link.run({ phone: contact.phone });
    if (made) window.open(made.create_consent_link.url, '_blank', 'noopener');
  };
  const { consents } = contact;
  return (
    <Card
      title={`Consent: ${plural(consents.length, 'record')}`}
      action={
        <Button size="compact-xs" variant="subtle" loading={link.isBusy} onClick={() => void open()}>
          Page to print
        </Button>
      }
    >
      {link.refusal && <Refused refusal={link.refusal} />}
      {consents.length === 0 ? (
        <Empty>Nothing is recorded yet.</Empty>
      ) : (
        <Table
          label="Records of consent"
          rows={consents}
          keyOf={({ id }) => id}
          columns={[
            { title: 'When', cell: ({ occurred_at }) => <Time at={occurred_at} full /> },
            { title: 'What', isHead: true, cell: ({ kind }) => words(kind) },
            { title: 'How', cell: ({ method, source }) => [words(method), source].filter(Boolean).join(', ') },
            { title: 'Words', cell: ({ text, note }) => text || note },
            { title: 'By', cell: ({ actor }) => names(actor) },
          ]}
        />
      )}
    </Card>
  );
}
