// Quiet hours: the rules of the account, which can be added and removed, and those of law with their sources.

import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Badge, Card, type Column, ConfirmButton, Empty, FormDialog, Table, useAct, words } from '../../ui/index.ts';
import styles from './accounts.module.css';
import { RemoveQuietHours } from './mutations.ts';
import { placeOf } from './places.ts';
import { QuietHoursForm } from './QuietHoursForm.tsx';
import type { Rule } from './queries.ts';

const WINDOW: Column<Rule>[] = [
  { title: 'Place', cell: ({ jurisdiction }) => placeOf(jurisdiction) },
  { title: 'May leave', cell: ({ start, end }) => (start === end ? 'never' : `${start} to ${end}`) },
  { title: 'Days', cell: ({ weekdays }) => daysOf(weekdays) },
  { title: 'At most', cell: ({ cap }) => (cap === null ? '–' : `${cap} in 24 hours`) },
];

export function QuietHours({ rules, onChanged }: { rules: Rule[]; onChanged: () => void }) {
  const [isAdding, setAdding] = useState(false);
  const own = rules.filter(({ origin }) => origin === 'account');
  return (
    <>
      <Card
        title="Your own hours"
        action={
          <Button size="xs" variant="default" ml="auto" onClick={() => setAdding(true)}>
            Add a rule
          </Button>
        }
      >
        <p>
          A promotional text leaves when every rule of the recipient’s place allows it, by the recipient’s clock. Until
          then it waits.
        </p>
        {own.length === 0 && <Empty>Only the rules of law hold. Add a rule to send in fewer hours.</Empty>}
        {own.length > 0 && <OwnRules rules={own} onChanged={onChanged} />}
      </Card>
      <Laws rules={rules.filter(({ origin }) => origin === 'law')} />
      <FormDialog isOpen={isAdding} onClose={() => setAdding(false)} title="Add a rule" size="lg">
        <QuietHoursForm
          onAdded={() => {
            setAdding(false);
            onChanged();
          }}
        />
      </FormDialog>
    </>
  );
}

function OwnRules({ rules, onChanged }: { rules: Rule[]; onChanged: () => void }) {
  const remove = useAct(RemoveQuietHours);
  return (
    <Table
      label="Rules of the account"
      rows={rules}
      keyOf={({ id }) => id}
      columns={[
        ...WINDOW,
        {
          title: 'Beside the law',
          cell: ({ overrides_law }) =>
            overrides_law ? <Badge kind="warn">In its place</Badge> : <Badge kind="good">Stricter</Badge>,
        },
        { title: 'Reason', cell: ({ source }) => source || '–' },
        {
          title: 'Actions',
          cell: ({ id, jurisdiction, start, end }) => (
            <ConfirmButton
              label="Remove"
              name={`Remove the rule ${id}`}
              size="compact-sm"
              title="Remove this rule?"
              act="Remove the rule"
              state={remove}
              run={() => remove.run({ id })}
              onDone={onChanged}
            >
              {placeOf(jurisdiction)}, {start} to {end}: texts that wait for it leave by the rules that remain.
            </ConfirmButton>
          ),
        },
      ]}
    />
  );
}

function Laws({ rules }: { rules: Rule[] }) {
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const shown = rules.filter(({ jurisdiction }) => placeOf(jurisdiction).toLowerCase().includes(wanted));
  return (
    <Card title="Rules of law">
      <p>They are built in from public sources, and are no legal advice. Those of a place hold together.</p>
      <TextInput
        type="search"
        mb="sm"
        w={280}
        aria-label="Search a place"
        placeholder="Search a place, such as Florida"
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      {shown.length === 0 && <Empty>No rule of law names this place.</Empty>}
      {shown.length > 0 && (
        <Table
          label="Built-in rules"
          rows={shown}
          keyOf={({ id }) => id}
          columns={[
            ...WINDOW,
            {
              title: 'State',
              cell: ({ is_overridden }) =>
                is_overridden ? <Badge>Replaced by yours</Badge> : <Badge kind="good">Holds</Badge>,
            },
            { title: 'Source', cell: (rule) => <Source rule={rule} /> },
          ]}
        />
      )}
    </Card>
  );
}

function Source({ rule: { id, source, as_of, is_verified } }: { rule: Rule }) {
  return (
    <>
      {source}
      <div className={styles.quiet}>
        {id}, compared on {as_of}
        {!is_verified && '; its sources disagree, so the stricter one holds'}
      </div>
    </>
  );
}

function daysOf(weekdays: string[]): string {
  return weekdays.length === 7 ? 'every day' : weekdays.map((day) => words(day).slice(0, 3)).join(' ');
}
