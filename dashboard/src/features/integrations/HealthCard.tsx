// The counters of an integration, its last error, and the next act.

import { Card, count, Facts, Notice, Time } from '../../ui/index.ts';
import { healthOf } from './model.ts';
import type { Integration } from './queries.ts';

export function HealthCard({ integration }: { integration: Integration }) {
  const { received, failed, refused, last_received_at, last_refused_at, last_error, last_error_at } = integration;
  const { mark, advice } = healthOf(integration);
  return (
    <Card title="Health">
      {advice && <Notice kind={mark === 'bad' ? 'bad' : 'warn'}>{advice}</Notice>}
      <Facts
        rows={[
          ['Events', `${count(received)}, of which ${count(failed)} failed`],
          ['Last event', <Time key="last" at={last_received_at} full />],
          [
            'Refused',
            refused === 0 ? (
              'none'
            ) : (
              <span key="refused">
                {count(refused)}, the last <Time at={last_refused_at} full />
              </span>
            ),
          ],
          [
            'Last error',
            last_error ? (
              <span key="error">
                <Time at={last_error_at} full />: {last_error}
              </span>
            ) : (
              'none'
            ),
          ],
        ]}
      />
    </Card>
  );
}
