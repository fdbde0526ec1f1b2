// A chat with an agent: nothing is sent, and the rules that fired stand beside each answer.

import { Button, Textarea } from '@mantine/core';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { type ResultOf, useMay } from '../../graphql/index.ts';
import { Card, Notice, plural, Refused, useAct } from '../../ui/index.ts';
import styles from './agents.module.css';
import { TryAgent } from './mutations.ts';
import { Verdicts } from './Verdicts.tsx';

interface Turn {
  text: string;
  answer: ResultOf<typeof TryAgent>['test_ai_agent'];
}

export function TestChat({ id }: { id: number }) {
  const act = useAct(TryAgent);
  const [turns, setTurns] = useState<Turn[]>([]);
  const [at, setAt] = useState(0);
  const [text, setText] = useState('');
  const shown = turns[at];
  const ask = async (event: FormEvent) => {
    event.preventDefault();
    if (act.isBusy || !text.trim()) return;
    const done = await act.run({ id, body: text });
    if (!done) return;
    setTurns([...turns, { text, answer: done.test_ai_agent }]);
    setAt(turns.length);
    setText((latest) => (latest === text ? '' : latest));
  };
  if (!useMay('ai:use')) return <Notice>To try an agent needs the scope ai:use.</Notice>;
  return (
    <div className={styles.chat}>
      <Card title="As a contact would write">
        <div className={styles.log} role="log" aria-label="Test chat" tabIndex={0}>
          {turns.length === 0 && <p className={styles.soft}>Write what a contact might ask. Nothing is sent.</p>}
          {turns.map((turn, index) => (
            <Exchange key={index} turn={turn} isShown={index === at} onShow={() => setAt(index)} />
          ))}
        </div>
        {act.refusal && <Refused refusal={act.refusal} />}
        <form className={styles.compose} onSubmit={(event) => void ask(event)}>
          <Textarea
            aria-label="Text of a contact"
            placeholder="What time do you open?"
            autosize
            maxLength={1600}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={submitOnEnter}
          />
          <Button type="submit" loading={act.isBusy} disabled={!text.trim()}>
            Ask
          </Button>
        </form>
      </Card>
      <Card title="Why">
        {shown ? (
          <Verdicts verdicts={shown.answer.gates} passages={shown.answer.passages} />
        ) : (
          <p className={styles.soft}>The rules that fired for an answer, and its sources, are shown here.</p>
        )}
      </Card>
    </div>
  );
}

function Exchange({ turn: { text, answer }, isShown, onShow }: { turn: Turn; isShown: boolean; onShow: () => void }) {
  return (
    <>
      <div className={styles.bubble} dir="auto">
        {text}
      </div>
      <div className={answer.reply ? `${styles.bubble} ${styles.reply}` : styles.none} dir="auto">
        {answer.reply ?? 'It would not answer.'}
      </div>
      <div className={styles.none}>
        {answer.credits > 0 && `${plural(answer.credits, 'credit')}. `}
        {!isShown && (
          <Button size="compact-xs" variant="subtle" aria-label={`Why, for ${text}`} onClick={onShow}>
            Why
          </Button>
        )}
      </div>
    </>
  );
}

function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
