// The REST reference, rendered from the OpenAPI document of this service.

import { Button, SegmentedControl } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Card, Empty, Page, Skeleton, Table, words } from '../../ui/index.ts';
import { Code } from './Code.tsx';
import styles from './developers.module.css';
import { exampleOf, type Language, LANGUAGES } from './examples.ts';
import { Inline } from './Inline.tsx';
import { type Document, type Endpoint, endpointsOf, typeOf } from './openapi.ts';

export function RestPage() {
  const [document, setDocument] = useState<Document>();
  const [isFailed, setFailed] = useState(false);
  const [times, setTimes] = useState(0);
  useEffect(() => {
    const asked = new AbortController();
    read(asked.signal).then(setDocument, () => asked.signal.aborted || setFailed(true));
    return () => asked.abort();
  }, [times]);
  const again = () => {
    setFailed(false);
    setTimes(times + 1);
  };
  if (document) return <Reference document={document} />;
  return (
    <Page title="REST">
      {isFailed ? (
        <Empty action={<Button onClick={again}>Try again</Button>}>The OpenAPI document could not be loaded.</Empty>
      ) : (
        <Skeleton rows={12} />
      )}
    </Page>
  );
}

async function read(signal: AbortSignal): Promise<Document> {
  const answer = await fetch('/openapi.json', { signal });
  if (!answer.ok) throw new Error(String(answer.status));
  return (await answer.json()) as Document;
}

function Reference({ document }: { document: Document }) {
  const [language, setLanguage] = useState<Language>('curl');
  const endpoints = endpointsOf(document);
  const groups = document.tags.map(({ name }) => ({
    name,
    found: endpoints.filter(({ tag }) => tag === name),
  }));
  useEffect(() => {
    window.document.getElementById(window.location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <Page
      title="REST"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Language of the examples"
          value={language}
          onChange={(value) => setLanguage(LANGUAGES.find((each) => each === value) ?? 'curl')}
          data={[...LANGUAGES]}
        />
      }
    >
      <p>
        Send a key with each request, as <code>X-API-Key</code> or as a bearer token. The examples read it from the
        environment variable <code>KEY</code>. <a href="/app/settings/keys">Create a key</a>
      </p>
      <div className={styles.reference}>
        <nav aria-label="Endpoints" className={styles.index} tabIndex={0}>
          {groups.map(({ name, found }) => (
            <div key={name}>
              <strong>{words(name)}</strong>
              {found.map(({ id, method, path }) => (
                <a key={id} href={`#${id}`}>
                  <span className={styles.method}>{method}</span> {path}
                </a>
              ))}
            </div>
          ))}
        </nav>
        <div className={styles.endpoints}>
          {groups.flatMap(({ found }) =>
            found.map((endpoint) => (
              <Section key={endpoint.id} document={document} endpoint={endpoint} language={language} />
            )),
          )}
        </div>
      </div>
    </Page>
  );
}

interface SectionProps {
  document: Document;
  endpoint: Endpoint;
  language: Language;
}

function Section({ document, endpoint, language }: SectionProps) {
  const { id, method, path, summary, needs, answers } = endpoint;
  const fields = fieldsOf(document, endpoint);
  return (
    <div id={id} className={styles.anchor}>
      <Card title={`${method} ${path}`}>
        <p>
          {summary} {needs && <Inline text={needs} />}
        </p>
        {fields.length > 0 && (
          <Table
            label={`Fields of ${method} ${path}`}
            rows={fields}
            keyOf={({ place, name }) => `${place} ${name}`}
            columns={[
              { title: 'Field', cell: ({ name, isNeeded }) => <code>{isNeeded ? `${name} *` : name}</code> },
              { title: 'In', cell: ({ place }) => place },
              { title: 'Type', cell: ({ type }) => type },
              { title: 'Meaning', cell: ({ about }) => <Inline text={about} /> },
            ]}
          />
        )}
        <Code text={exampleOf(document, endpoint, language)} label={`${method} ${path} in ${language}`} />
        <details>
          <summary>Answers</summary>
          <dl className={styles.answers}>
            {answers.map(({ status, description }) => (
              <div key={status}>
                <dt>{status}</dt>
                <dd>
                  <Inline text={description} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      </Card>
    </div>
  );
}

function fieldsOf(document: Document, { parameters, body }: Endpoint) {
  const given = parameters.map(({ name, in: place, required, schema }) => ({
    name,
    place: place as string,
    isNeeded: required ?? false,
    type: typeOf(document, schema),
    about: schema.description ?? '',
  }));
  const sent = Object.entries(body?.properties ?? {}).map(([name, schema]) => ({
    name,
    place: 'body',
    isNeeded: body?.required?.includes(name) ?? false,
    type: typeOf(document, schema),
    about: schema.description ?? '',
  }));
  return [...given, ...sent];
}
