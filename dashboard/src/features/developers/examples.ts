// A request to an endpoint as a program would make it, in three languages.

import { type Document, type Endpoint, resolved, type Schema } from './openapi.ts';

export const LANGUAGES = ['curl', 'Python', 'JavaScript'] as const;

export type Language = (typeof LANGUAGES)[number];

/** Values that say more than their types do. */
const VALUES: Record<string, unknown> = {
  to: '+12025550143',
  phone: '+12025550143',
  email: 'ann@example.com',
  first_name: 'Ann',
  last_name: 'Lee',
  message: 'Your table is booked for 7 pm.',
  description: '20% off all haircuts this Friday',
  tag: 'vip',
  tags: ['vip'],
  target_url: 'https://example.com/hooks',
  name: 'Shop',
  search: 'ann',
};

/** Fields that an example has although they may be left out: without them the request would change or find nothing. */
const TELLING = new Set(['phone', 'first_name', 'search']);

interface Sample {
  method: string;
  url: string;
  body?: string;
}

/** Return a request to an endpoint: the required fields, and those that it would say little without. */
export function exampleOf(document: Document, endpoint: Endpoint, language: Language): string {
  const body = endpoint.body && bodyOf(document, endpoint.body);
  const sample = {
    method: endpoint.method,
    url: (document.servers[0]?.url ?? '') + pathOf(document, endpoint),
    body: body && JSON.stringify(body, null, 2),
  };
  return WRITERS[language](sample);
}

function pathOf(document: Document, { path, parameters }: Endpoint): string {
  return parameters
    .filter(({ in: place }) => place === 'path')
    .reduce((text, { name, schema }) => text.replace(`{${name}}`, String(valueOf(document, name, schema))), path);
}

function bodyOf(document: Document, schema: Schema): Record<string, unknown> {
  const { properties = {}, required = [] } = resolved(document, schema);
  const shown = Object.entries(properties).filter(([name]) => required.includes(name) || TELLING.has(name));
  return Object.fromEntries(shown.map(([name, each]) => [name, valueOf(document, name, each)]));
}

function valueOf(document: Document, name: string, given: Schema): unknown {
  const schema = resolved(document, given);
  const first = schema.const ?? schema.enum?.[0] ?? VALUES[name] ?? schema.default;
  if (first !== undefined) return first;
  if (schema.anyOf?.[0]) return valueOf(document, name, schema.anyOf[0]);
  if (schema.items) return [valueOf(document, name, schema.items)];
  return { integer: 1, number: 1, boolean: true }[[schema.type].flat()[0] ?? ''] ?? name;
}

const WRITERS: Record<Language, (sample: Sample) => string> = {
  curl: ({ method, url, body }) =>
    [
      `curl ${method === 'GET' || (method === 'POST' && body) ? '' : `-X ${method} `}"${url}"`,
      '-H "X-API-Key: $KEY"',
      ...(body ? [`--json '${body.replaceAll("'", "'\\''")}'`] : []),
    ].join(' \\\n  '),
  Python: ({ method, url, body }) =>
    [
      'import json',
      'import os',
      'import urllib.request',
      '',
      'request = urllib.request.Request(',
      `    "${url}",`,
      `    method="${method}",`,
      `    headers={"X-API-Key": os.environ["KEY"]${body ? ', "Content-Type": "application/json"' : ''}},`,
      ...(body ? [`    data=json.dumps(${indented(python(body), 4)}).encode(),`] : []),
      ')',
      'with urllib.request.urlopen(request) as response:',
      '    print(json.load(response))',
    ].join('\n'),
  JavaScript: ({ method, url, body }) =>
    [
      `const response = await fetch("${url}", {`,
      `  method: "${method}",`,
      `  headers: { "X-API-Key": process.env.KEY${body ? ', "Content-Type": "application/json"' : ''} },`,
      ...(body ? [`  body: JSON.stringify(${indented(body, 2)}),`] : []),
      '});',
      'console.log(await response.json());',
    ].join('\n'),
};

/** Return JSON as Python writes its constants. */
function python(json: string): string {
  return json.replace(
    /: (true|false|null)/g,
    (_, word: string) => `: ${{ true: 'True', false: 'False' }[word] ?? 'None'}`,
  );
}

function indented(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}
