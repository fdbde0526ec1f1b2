// The cost of a text: its parts are counted while it is typed, its credits come from the service a moment later.

import { useQuery } from 'urql';
import { graphql } from '../graphql/index.ts';
import { countParts } from './parts.ts';
import { useSettled } from './useSettled.ts';
import styles from './ui.module.css';
import { plural } from './values.tsx';

const Measured = graphql(`
  query Measured($body: String!, $to: String, $template: Boolean!) {
    measure_text(body: $body, to: $to, template: $template) {
      is_smart_encoded
      body {
        as_typed {
          segments
          credits
        }
        smart_encoded {
          segments
          credits
        }
        costly_characters {
          character
        }
      }
    }
  }
`);

export function Cost({ text, to }: { text: string; to?: string }) {
  const settled = useSettled(text);
  const isPhone = to && /^\+\d{7,15}$/.test(to.replace(/[ ()-]/g, ''));
  const variables = { body: settled, to: isPhone ? to.replace(/[ ()-]/g, '') : null, template: false };
  const [{ data }] = useQuery({ query: Measured, variables, pause: settled === '' });
  const { encoding, segments, left } = countParts(text);
  const measure = settled === text && text ? data?.measure_text : undefined;
  const used = measure && (measure.is_smart_encoded ? measure.body.smart_encoded : measure.body.as_typed);
  const costly =
    measure && !measure.is_smart_encoded ? measure.body.costly_characters.map((each) => each.character) : [];
  if (!text) return <span className={styles.soft}>0 parts</span>;
  return (
    <span className={styles.soft} role="status">
      {plural(used?.segments ?? segments, 'part')} · {encoding} ·{' '}
      {used ? plural(used.credits, 'credit') : `${left} left`}
      {costly.length > 0 && encoding === 'UCS-2' && ` · ${costly.slice(0, 3).join(' ')} needs UCS-2`}
    </span>
  );
}
