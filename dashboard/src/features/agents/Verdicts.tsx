// The rules that an agent passed and the one that fired, with the passages that were found.

import { Badge, plural, words } from '../../ui/index.ts';
import styles from './agents.module.css';
import { ACTIONS, decisive } from './model.ts';
import type { Passage, Verdict } from './queries.ts';

export function Verdicts({ verdicts, passages }: { verdicts: Verdict[]; passages: Passage[] }) {
  const fired = decisive(verdicts);
  const passed = verdicts.filter(({ action }) => action === 'passed');
  return (
    <>
      {fired && (
        <div className={styles.fired}>
          <strong>{words(fired.gate)}.</strong> {ACTIONS[fired.action].word}. {fired.reason}
        </div>
      )}
      <details>
        <summary>{plural(passed.length, 'rule')} passed</summary>
        <ul className={styles.verdicts}>
          {passed.map(({ gate }) => (
            <li key={gate}>
              <Badge kind="good">{words(gate)}</Badge>
            </li>
          ))}
        </ul>
      </details>
      {passages.length > 0 && (
        <>
          <p>Found in its knowledge:</p>
          <ul className={styles.verdicts}>
            {passages.map(({ title, text, score }) => (
              <li key={title + text}>
                <strong>{title}</strong> <span className={styles.soft}>{score.toFixed(2)} of 1</span>
                <div className={styles.text} dir="auto">
                  {text}
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
