// The parts, the encoding and the credits of a text with placeholders, and the characters that cost money.

import { useQuery } from 'urql';
import type { ResultOf } from '../../graphql/index.ts';
import { countParts, plural, useSettled } from '../../ui/index.ts';
import { TextMeasured } from './queries.ts';
import styles from './templates.module.css';

type Measured = ResultOf<typeof TextMeasured>['measure_text'];
type Bound = NonNullable<Measured['longest']>;

const MOST_SHOWN = 4;

export function TextCost({ body, isSmartEncoded }: { body: string; isSmartEncoded?: boolean }) {
  const settled = useSettled(body);
  const [{ data, error }] = useQuery({ query: TextMeasured, variables: { body: settled }, pause: settled === '' });
  const measured = settled === body && body && !error ? data?.measure_text : undefined;
  if (!body) return <span className={styles.soft}>0 parts</span>;
  if (!measured) {
    const { segments, encoding } = countParts(body);
    return (
      <span className={styles.soft} role="status">
        {plural(segments, 'part')} · {encoding}
      </span>
    );
  }
  return <Known measured={{ ...measured, is_smart_encoded: isSmartEncoded ?? measured.is_smart_encoded }} />;
}

function Known({ measured }: { measured: Measured }) {
  const { body, is_smart_encoded, longest, longest_ucs_2 } = measured;
  const used = is_smart_encoded ? body.smart_encoded : body.as_typed;
  const segmentsOf = (bound: Bound) => (is_smart_encoded ? bound.smart_encoded : bound.as_typed).segments;
  const most = longest && segmentsOf(longest);
  const mostUcs2 = longest_ucs_2 && segmentsOf(longest_ucs_2);
  return (
    <span className={styles.cost} role="status">
      <span>
        <strong>{plural(used.segments, 'part')}</strong> · {used.encoding === 'gsm_7' ? 'GSM-7' : 'UCS-2'} ·{' '}
        {plural(used.credits, 'credit')}
      </span>
      {most && most > used.segments && <span>{plural(most, 'part')} with the longest names</span>}
      {mostUcs2 && mostUcs2 > (most ?? 0) && <span>{plural(mostUcs2, 'part')} if those are not in GSM-7</span>}
      <Costly measured={measured} />
    </span>
  );
}

function Costly({ measured: { body, is_smart_encoded } }: { measured: Measured }) {
  const { costly_characters: characters, as_typed, smart_encoded } = body;
  if (characters.length === 0) return null;
  const saved = as_typed.credits - smart_encoded.credits;
  const isReplaced = is_smart_encoded && smart_encoded.encoding === 'gsm_7';
  const shown = characters.slice(0, MOST_SHOWN).map(({ character, replacement }) => {
    if (replacement === null) return character;
    return `${character} → ${replacement || 'nothing'}`;
  });
  const more = characters.length > MOST_SHOWN ? ` and ${characters.length - MOST_SHOWN} more` : '';
  return (
    <span>
      {isReplaced ? 'Sent with ' : 'UCS-2 because of '}
      <span className={styles.characters}>{shown.join('  ')}</span>
      {more}
      {saved > 0 &&
        (isReplaced ? `, which saves ${plural(saved, 'credit')}` : `: replacing saves ${plural(saved, 'credit')}`)}
    </span>
  );
}
