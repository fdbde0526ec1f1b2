// The keywords that inbound texts are compared with, and what follows from them.

import { Button, Switch } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import {
  Badge,
  ConfirmButton,
  count,
  Empty,
  Failure,
  FormDialog,
  Icon,
  Page,
  Refused,
  Skeleton,
  Table,
  useAct,
} from '../../ui/index.ts';
import styles from './automations.module.css';
import { KeywordForm } from './KeywordForm.tsx';
import { MATCHES } from './keywords.ts';
import { ChangeKeyword, Unwatch } from './mutations.ts';
import { type Keyword, Keywords } from './queries.ts';

export function KeywordsPage() {
  const [{ data, error }, again] = useQuery({ query: Keywords, requestPolicy: 'cache-and-network' });
  const [edited, setEdited] = useState<Keyword | 'new'>();
  const rows = data?.watched_keywords;
  const reload = () => again({ requestPolicy: 'network-only' });
  const add = useMay('campaigns:write') && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setEdited('new')}>
      New keyword
    </Button>
  );
  return (
    <Page title="Keywords" actions={add}>
      {error && <Failure error={error} retry={reload} />}
      {!rows && !error && <Skeleton rows={3} />}
      {rows?.length === 0 && (
        <Empty>A keyword answers people who text one word, such as MENU, or joins them to your list.</Empty>
      )}
      {rows && rows.length > 0 && <KeywordTable keywords={rows} onEdit={setEdited} onChanged={reload} />}
      <FormDialog
        isOpen={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={edited === 'new' ? 'New keyword' : `Keyword ${edited?.keyword ?? ''}`}
        size="lg"
      >
        {edited && (
          <KeywordForm
            keyword={edited === 'new' ? undefined : edited}
            onDone={() => {
              setEdited(undefined);
              reload();
            }}
          />
        )}
      </FormDialog>
    </Page>
  );
}

interface TableProps {
  keywords: Keyword[];
  onEdit: (keyword: Keyword) => void;
  onChanged: () => void;
}

function KeywordTable({ keywords, onEdit, onChanged }: TableProps) {
  return (
    <Table
      label="Keywords"
      rows={keywords}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Keyword', cell: ({ keyword }) => <strong>{keyword.toUpperCase()}</strong> },
        { title: 'Matches', cell: ({ match }) => MATCHES[match] },
        { title: 'Reply', cell: ({ reply }) => (reply ? <span dir="auto">{reply}</span> : '–') },
        { title: 'Consent', cell: consentOf },
        { title: 'Hits', isNumber: true, cell: ({ hits }) => count(hits) },
        { title: 'Watched', cell: (row) => <Watched keyword={row} /> },
        { title: 'Actions', cell: (row) => <Acts keyword={row} onEdit={onEdit} onChanged={onChanged} /> },
      ]}
    />
  );
}

function consentOf({ opts_in, double_opt_in, opt_in_tag }: Keyword) {
  const tag = opt_in_tag ? ` · tag ${opt_in_tag}` : '';
  if (double_opt_in) return <Badge kind="good">{`After YES${tag}`}</Badge>;
  return opts_in ? <Badge kind="good">{`At once${tag}`}</Badge> : '–';
}

function Watched({ keyword: { id, keyword, is_active } }: { keyword: Keyword }) {
  const act = useAct(ChangeKeyword);
  const mayWrite = useMay('campaigns:write');
  return (
    <>
      <Switch
        aria-label={`Watch ${keyword}`}
        checked={is_active}
        disabled={act.isBusy || !mayWrite}
        onChange={({ currentTarget }) => void act.run({ id, changes: { is_active: currentTarget.checked } })}
      />
      {act.refusal && <Refused refusal={act.refusal} />}
    </>
  );
}

function Acts({ keyword, onEdit, onChanged }: Omit<TableProps, 'keywords'> & { keyword: Keyword }) {
  const remove = useAct(Unwatch);
  const { id, keyword: text } = keyword;
  if (!useMay('campaigns:write')) return null;
  return (
    <div className={styles.acts}>
      <Button size="compact-sm" variant="default" aria-label={`Change ${text}`} onClick={() => onEdit(keyword)}>
        Change
      </Button>
      <ConfirmButton
        label="Remove"
        name={`Remove ${text}`}
        size="compact-sm"
        title={`Remove ${text.toUpperCase()}?`}
        act="Remove the keyword"
        state={remove}
        run={() => remove.run({ id })}
        onDone={onChanged}
      >
        Texts with this word get no reply any more, and its count of hits is deleted. Consent that it recorded stays.
      </ConfirmButton>
    </div>
  );
}
