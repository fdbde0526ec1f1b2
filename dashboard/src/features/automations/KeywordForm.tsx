// A keyword and its rules.

import { Button, Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Cost, Refused, useAct } from '../../ui/index.ts';
import styles from './automations.module.css';
import { MATCHES } from './keywords.ts';
import { ChangeKeyword, Watch } from './mutations.ts';
import { type Keyword, NumberChoices } from './queries.ts';

type Rules = Pick<Keyword, 'match' | 'phone_number_id' | 'opts_in' | 'double_opt_in' | 'opt_in_tag' | 'reply'>;

const FRESH: Rules = {
  match: 'exact',
  phone_number_id: null,
  opts_in: false,
  double_opt_in: false,
  opt_in_tag: '',
  reply: '',
};

export function KeywordForm({ keyword, onDone }: { keyword?: Keyword; onDone: () => void }) {
  const watch = useAct(Watch);
  const change = useAct(ChangeKeyword);
  const [text, setText] = useState(keyword?.keyword ?? '');
  const [rules, setRules] = useState<Rules>(keyword ? rulesOf(keyword) : FRESH);
  const set = (changes: Partial<Rules>) => setRules({ ...rules, ...changes });
  const refusal = watch.refusal ?? change.refusal;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const done = keyword
      ? await change.run({ id: keyword.id, changes: rules })
      : await watch.run({ keyword: text, rules });
    if (done) onDone();
  };
  return (
    <form className={styles.fields} onSubmit={(event) => void submit(event)}>
      {!keyword && (
        <TextInput
          label="Keyword"
          description="A word or phrase; capitals do not count."
          required
          maxLength={40}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          data-autofocus
        />
      )}
      <Select
        label="Part of the text to compare"
        allowDeselect={false}
        data={Object.entries(MATCHES).map(([value, label]) => ({ value, label }))}
        value={rules.match}
        onChange={(match) => set({ match: match as Rules['match'] })}
      />
      {useMay('numbers:read') && <NumberField value={rules.phone_number_id} onChange={set} />}
      <Textarea
        label="Reply"
        description="Empty for none."
        autosize
        maxLength={1600}
        value={rules.reply}
        onChange={({ currentTarget }) => set({ reply: currentTarget.value })}
      />
      <Cost text={rules.reply} />
      <Checkbox
        label="Record the text as consent to be texted"
        checked={rules.opts_in}
        onChange={({ currentTarget }) => set({ opts_in: currentTarget.checked })}
      />
      <Checkbox
        label="Ask the person to confirm with YES first"
        checked={rules.double_opt_in}
        onChange={({ currentTarget }) => set({ double_opt_in: currentTarget.checked })}
      />
      {rules.double_opt_in && (
        <TextInput
          label="Tag with the confirmation"
          maxLength={64}
          value={rules.opt_in_tag}
          onChange={({ currentTarget }) => set({ opt_in_tag: currentTarget.value })}
        />
      )}
      {refusal && <Refused refusal={refusal} />}
      <Button type="submit" loading={watch.isBusy || change.isBusy} disabled={!text.trim()}>
        {keyword ? 'Save the keyword' : 'Watch the keyword'}
      </Button>
    </form>
  );
}

function rulesOf({ match, phone_number_id, opts_in, double_opt_in, opt_in_tag, reply }: Keyword): Rules {
  return { match, phone_number_id, opts_in, double_opt_in, opt_in_tag, reply };
}

function NumberField({ value, onChange }: { value: number | null; onChange: (changes: Partial<Rules>) => void }) {
  const [{ data }] = useQuery({ query: NumberChoices });
  return (
    <Select
      label="Texts to"
      placeholder="Any number"
      clearable
      clearButtonProps={{ 'aria-label': 'Any number' }}
      data={data?.phone_numbers.map(({ id, phone_number }) => ({ value: String(id), label: phone_number })) ?? []}
      value={value === null ? null : String(value)}
      onChange={(id) => onChange({ phone_number_id: id === null ? null : Number(id) })}
    />
  );
}
