// The tools for AI assistants, and how to connect one.

import { TextInput } from '@mantine/core';
import { useState } from 'react';
import assistants from '../../../../docs/assistants.md?raw';
import tools from '../../../../docs/tools.json';
import { Badge, Card, Empty, Page, plural, Table } from '../../ui/index.ts';
import styles from './developers.module.css';
import { Inline } from './Inline.tsx';
import { Markdown } from './Markdown.tsx';
import type { Schema } from './openapi.ts';

interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: Schema;
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean };
}

const TOOLS = tools as unknown as Tool[];

export function ToolsPage() {
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const found = TOOLS.filter(({ name, title, description }) =>
    `${name} ${title} ${description}`.toLowerCase().includes(wanted),
  );
  return (
    <Page title="Tools">
      <Card>
        <details>
          <summary>How to connect an assistant</summary>
          <Markdown text={assistants} />
        </details>
      </Card>
      <TextInput
        type="search"
        mb="sm"
        label="Search the tools"
        description={plural(found.length, 'tool')}
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      {found.length === 0 && <Empty>No tool has these words.</Empty>}
      {found.map((tool) => (
        <Described key={tool.name} tool={tool} />
      ))}
    </Page>
  );
}

function Described({ tool: { name, title, description, inputSchema, annotations } }: { tool: Tool }) {
  const { properties = {}, required = [] } = inputSchema;
  return (
    <div id={name} className={styles.anchor}>
      <Card title={title}>
        <p>
          <code>{name}</code> {annotations.readOnlyHint && <Badge>Reads only</Badge>}
          {annotations.destructiveHint && <Badge kind="warn">Cannot be undone</Badge>}
        </p>
        <p>
          <Inline text={description} />
        </p>
        {Object.keys(properties).length > 0 && (
          <Table
            label={`Arguments of ${name}`}
            rows={Object.entries(properties)}
            keyOf={([argument]) => argument}
            columns={[
              {
                title: 'Argument',
                cell: ([argument]) => <code>{required.includes(argument) ? `${argument} *` : argument}</code>,
              },
              { title: 'Meaning', cell: ([, schema]) => <Inline text={schema.description ?? ''} /> },
            ]}
          />
        )}
      </Card>
    </div>
  );
}
