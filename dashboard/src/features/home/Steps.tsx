// The steps of setting the account up, and where each is done.

import { Link } from '@tanstack/react-router';
import { useMay } from '../../graphql/index.ts';
import { Badge, Card, Icon, plural, words } from '../../ui/index.ts';
import styles from './home.module.css';
import type { SetupStep } from './queries.ts';

const PLACES: Record<string, string> = {
  company_name: '/settings/company',
  support_contact: '/settings/company',
  quiet_hours: '/settings/company',
  carrier: '/numbers',
  phone_number: '/numbers',
  credits: '/billing',
  payments: '/billing',
  webhook: '/settings/keys',
};

export function Steps({ steps }: { steps: SetupStep[] }) {
  const open = steps.filter(({ is_done }) => !is_done);
  const done = steps.filter(({ is_done }) => is_done);
  return (
    <Card title="Set-up">
      {open.length === 0 && <p>Everything is set up.</p>}
      <List steps={open} />
      {done.length > 0 && (
        <details className={styles.settled}>
          <summary>{plural(done.length, 'step')} done</summary>
          <List steps={done} />
        </details>
      )}
    </Card>
  );
}

function List({ steps }: { steps: SetupStep[] }) {
  const maySet = useMay('account:write');
  return (
    <ol className={styles.steps}>
      {steps.map(({ name, is_done, is_required, text }) => (
        <li key={name} className={is_done ? styles.done : undefined}>
          <span className={styles.mark} aria-hidden="true">
            {is_done && <Icon name="check" size={14} />}
          </span>
          <div style={{ flex: 1 }}>
            <strong>{words(name)}</strong>{' '}
            {is_done ? <Badge kind="good">Done</Badge> : !is_required && <Badge>Optional</Badge>}
            <div>{text}</div>
          </div>
          {!is_done && maySet && PLACES[name] && <Link to={PLACES[name]}>Set it up</Link>}
        </li>
      ))}
    </ol>
  );
}
