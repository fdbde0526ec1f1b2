// The steps of the editor, as links within the page.

import { words } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { STEP_KEYS } from './routes.ts';

export type Step = (typeof STEP_KEYS)[number];

export const STEPS = STEP_KEYS.map((key) => ({ key, label: words(key) }));

export function Steps({ step, onChange }: { step: Step; onChange: (step: Step) => void }) {
  return (
    <nav aria-label="Steps" className={styles.steps}>
      {STEPS.map(({ key, label }, index) => (
        <button
          key={key}
          type="button"
          aria-current={key === step ? 'step' : undefined}
          aria-keyshortcuts={`Alt+${index + 1}`}
          onClick={() => onChange(key)}
        >
          <span aria-hidden="true">{index + 1}</span> {label}
        </button>
      ))}
    </nav>
  );
}
