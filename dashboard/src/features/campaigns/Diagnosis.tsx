// The causes for which a campaign reaches fewer people than it could, each with what to do.

import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Badge, Card, Failure, type Kind, Skeleton } from '../../ui/index.ts';
import styles from './campaigns.module.css';
import { CampaignDiagnosis, type Finding } from './results.ts';
import { useLately } from './useLately.ts';

const KINDS: Record<Finding['verdict'], [Kind, string]> = {
  problem: ['bad', 'Problem'],
  warning: ['warn', 'Warning'],
  note: ['plain', 'Note'],
};

const STEPS: Partial<Record<Finding['code'], { to: '/billing' | '/numbers'; label: string }>> = {
  credits_exhausted: { to: '/billing', label: 'Add credits' },
  sender_refused: { to: '/numbers', label: 'See the numbers' },
  filtered: { to: '/numbers', label: 'See the numbers' },
  delivery_below_usual: { to: '/numbers', label: 'See the numbers' },
};

export function Diagnosis({ id }: { id: number }) {
  const [{ data, error }, again] = useQuery({
    query: CampaignDiagnosis,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const reload = () => again({ requestPolicy: 'network-only' });
  useLately((update) => update.__typename === 'CampaignUpdate' && update.campaign?.id === id, reload);
  const findings = data?.diagnose_campaign;
  return (
    <Card title="Diagnosis">
      {error && <Failure error={error} retry={reload} />}
      {!findings && !error && <Skeleton rows={2} />}
      {findings?.length === 0 && <Badge kind="good">Nothing keeps it from reaching people</Badge>}
      {findings && findings.length > 0 && (
        <ul className={styles.findings} aria-label="Findings">
          {findings.map(({ code, verdict, text, fix }) => (
            <li key={text}>
              <Badge kind={KINDS[verdict][0]}>{KINDS[verdict][1]}</Badge>
              <span>
                {text}
                <span className={styles.soft}>{fix}</span>
                <NextStep code={code} id={id} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function NextStep({ code, id }: { code: Finding['code']; id: number }) {
  if (code === 'audience_shrink' || code === 'landlines') {
    const reason = code === 'landlines' ? 'landline' : undefined;
    return (
      <Link to="/campaigns/$id/recipients" params={{ id }} search={{ state: 'suppressed', reason }}>
        See the people
      </Link>
    );
  }
  if (code === 'opt_outs') {
    return (
      <Link to="/campaigns/$id/recipients" params={{ id }} search={{ answer: 'opted_out' }}>
        See the people
      </Link>
    );
  }
  const step = STEPS[code];
  return step && <Link to={step.to}>{step.label}</Link>;
}
