// The check before a campaign is sent: who gets it and who does not, what it costs, and when the texts leave.

import { Bars, Card, count, type Kind, Badge, money, plural } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { reasonOf } from './model.ts';
import type { Previewed } from './usePreview.ts';

export function People({ preview }: { preview: Previewed }) {
  const { audience, recipients, excluded } = preview;
  const out = audience - recipients;
  return (
    <Card title="People">
      <p className={styles.figure}>
        <strong>{count(recipients)}</strong> of {plural(audience, 'person', 'people')}
      </p>
      {out > 0 && (
        <>
          <h3 className={styles.head}>{plural(out, 'person', 'people')} left out</h3>
          <ul className={styles.reasons} aria-label="People left out">
            {[...excluded]
              .sort((one, other) => other.count - one.count)
              .map(({ reason, count: number, description }) => (
                <li key={reason}>
                  <strong>{count(number)}</strong>
                  <span>
                    {reasonOf(reason)}
                    <span className={styles.soft}>{description}</span>
                  </span>
                </li>
              ))}
          </ul>
        </>
      )}
      {audience === 0 && <p className={styles.soft}>Nobody is chosen yet, or nobody meets the conditions.</p>}
    </Card>
  );
}

const AVERAGE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

export function Price({ preview }: { preview: Previewed }) {
  const { recipients, segments, credits, cost, currency, histogram } = preview;
  if (recipients === 0) return null;
  return (
    <Card title="What it costs">
      <p className={styles.figure}>
        <strong>{plural(credits, 'credit')}</strong> {money(cost, currency)}
      </p>
      <Bars
        label="Texts by their number of parts"
        caption={
          histogram.length > 1
            ? `${plural(segments, 'part')} in all, ${AVERAGE.format(segments / recipients)} a text on average.`
            : `Each text takes ${plural(segments / recipients, 'part')}.`
        }
        group="Parts of a text"
        series={[{ name: 'Texts', tone: 'one' }]}
        rows={histogram.map(({ segments: parts, count: number }) => ({
          key: String(parts),
          name: plural(parts, 'part'),
          values: [number],
        }))}
      />
      <Characters preview={preview} />
      <Findings findings={preview.findings} />
    </Card>
  );
}

function Characters({ preview: { characters, encodings } }: { preview: Previewed }) {
  const dear = encodings.find(({ encoding }) => encoding === 'ucs_2');
  if (!dear || characters.length === 0) return null;
  return (
    <>
      <h3 className={styles.head}>Characters that cost parts</h3>
      <p className={styles.soft}>
        {plural(dear.count, 'text')} {dear.count === 1 ? 'has' : 'have'} a character outside GSM-7, and so only 70
        characters fit into a part.
      </p>
      <ul className={styles.reasons} aria-label="Characters that cost parts">
        {characters.map(({ character, replacement, texts, credits }) => (
          <li key={character}>
            <span className={styles.character}>{character}</span>
            <span>
              in {plural(texts, 'text')}
              <span className={styles.soft}>
                {credits > 0 ? `+${plural(credits, 'credit')}. ` : 'Costs nothing more here. '}
                {replacement === null
                  ? 'It has no plain form that could be sent instead.'
                  : `Could be sent as ${replacement || 'nothing'}.`}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

const SEVERITIES: Record<string, [Kind, string]> = {
  error: ['bad', 'Error'],
  high: ['warn', 'Mend'],
  medium: ['plain', 'Better'],
  low: ['plain', 'Better'],
};

function Findings({ findings }: { findings: Previewed['findings'] }) {
  if (findings.length === 0) return null;
  return (
    <>
      <h3 className={styles.head}>Advice</h3>
      <ul className={styles.findings} aria-label="Advice about the text">
        {findings.map(({ rule, severity, text, advice }) => (
          <li key={rule + text}>
            <Badge kind={SEVERITIES[severity]?.[0]}>{SEVERITIES[severity]?.[1] ?? ''}</Badge>
            <span>
              {text} {advice}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
