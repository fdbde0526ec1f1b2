// GraphiQL with completion and documentation from the bundled schema: it works without a sign-in, and asks for nothing.

import { useMediaQuery } from '@mantine/hooks';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { buildSchema } from 'graphql';
import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import GraphQLWorker from 'monaco-graphql/esm/graphql.worker.js?worker';
import definition from '../../../../schema.graphql?raw';
import { useEffect } from 'react';
import { Header } from './Header.tsx';

const WORKERS: Record<string, new () => Worker> = { json: JsonWorker, graphql: GraphQLWorker };

const getWorker = (_: string, label: string) => new (WORKERS[label] ?? EditorWorker)();
Object.assign(globalThis, { MonacoEnvironment: { getWorker } });

const BEGIN = `# Runs as the person who is signed in. With a key instead, add it below under Headers:
# {"X-API-Key": "svc_..."}

query Contacts {
  contacts(first: 5) {
    nodes {
      id
      label
      phone
    }
  }
}
`;

const schema = buildSchema(definition);
const { origin } = window.location;
const fetcher = createGraphiQLFetcher({ url: '/graphql', subscriptionUrl: `${origin.replace(/^http/, 'ws')}/graphql` });

export function Explorer() {
  const scheme = useScheme();
  useEffect(listTabs, []);
  return (
    <>
      <Header path="/docs/graphql" />
      <main id="main">
        <h1>GraphQL explorer</h1>
        <GraphiQL
          fetcher={fetcher}
          schema={schema}
          defaultQuery={BEGIN}
          shouldPersistHeaders={false}
          forcedTheme={scheme}
        >
          <GraphiQL.Logo>{null}</GraphiQL.Logo>
        </GraphiQL>
      </main>
    </>
  );
}

/** Let the tabs be a list of buttons: as GraphiQL marks them, each is a button that has a button in it. */
function listTabs(): () => void {
  const change = () => {
    for (const each of document.querySelectorAll(
      '.graphiql-tabs[role], .graphiql-tab[role], .graphiql-tab[aria-selected]',
    )) {
      for (const name of ['role', 'aria-selected']) each.removeAttribute(name);
    }
  };
  const observer = new MutationObserver(change);
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['role', 'aria-selected'] });
  return () => observer.disconnect();
}

const KEPT = 'mantine-color-scheme-value';

/** Return the appearance that the person chose in the dashboard, or else that of the system. */
function useScheme(): 'light' | 'dark' {
  const isDark = useMediaQuery('(prefers-color-scheme: dark)', undefined, { getInitialValueInEffect: false });
  const kept = localStorage.getItem(KEPT);
  const scheme = kept === 'light' || kept === 'dark' ? kept : isDark ? 'dark' : 'light';
  useEffect(() => {
    document.documentElement.dataset.mantineColorScheme = scheme;
  }, [scheme]);
  return scheme;
}
