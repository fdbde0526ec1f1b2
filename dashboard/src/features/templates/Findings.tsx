// Advice about a text while it is typed, the gravest first; an error keeps it from being saved.

import { useQuery } from 'urql';
import { Badge, type Kind, useSettled } from '../../ui/index.ts';
import { TextChecked } from './queries.ts';
import styles from './templates.module.css';

const KINDS: Record<string, [Kind, string]> = {
  error: ['bad', 'Error'],
  high: ['warn', 'Mend'],
  medium: ['plain', 'Better'],
  low: ['plain', 'Better'],
};

export function Findings({ body, isFirst = false }: { body: string; isFirst?: boolean }) {
  const settled = useSettled(body);
  const [{ data }] = useQuery({
    query: TextChecked,
    variables: { body: settled, first_promotional: isFirst },
    pause: settled.trim() === '',
  });
  const findings = settled.trim() === '' ? [] : (data?.check_text ?? []);
  if (findings.length === 0) return null;
  return (
    <ul className={styles.findings} aria-label="Advice about the text">
      {findings.map(({ rule, severity, text, advice, position }) => (
        <li key={`${rule} ${position}`}>
          <Badge kind={KINDS[severity]?.[0]}>{KINDS[severity]?.[1] ?? ''}</Badge>
          <span>
            {text} {advice}
          </span>
        </li>
      ))}
    </ul>
  );
}
