// A connection to a CRM: its health, and the progress of the synchronization.

import { Button, Group, Progress } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import { Card, count, Facts, Notice, plural, Refused, Time, useAct } from '../../ui/index.ts';
import { crmHealthOf, SYNCS } from './model.ts';
import { ConnectCrm, Synchronize } from './mutations.ts';
import type { Crm, Integration } from './queries.ts';

const AGAIN = 3_000;

interface CrmCardProps {
  crm: Crm;
  integration: Integration;
  onChanged: () => void;
}

export function CrmCard({ crm, integration, onChanged }: CrmCardProps) {
  const { kind, location, state, error, error_at, sync, fetched, total, offered, integration_id } = crm;
  const synchronize = useAct(Synchronize);
  const connect = useAct(ConnectCrm);
  const { advice, mark } = crmHealthOf(crm, integration);
  const refresh = useEffectEvent(onChanged);
  const isUnderWay = sync !== 'done' && state === 'authorized' && integration.status === 'active';
  useEffect(() => {
    if (!isUnderWay) return;
    const timer = window.setInterval(() => refresh(), AGAIN);
    return () => window.clearInterval(timer);
  }, [isUnderWay]);
  const again = async () => {
    const begun = await connect.run({ kind });
    if (begun) window.location.assign(begun.connect_crm.url);
  };
  const share = sync === 'done' ? 100 : total ? (100 * fetched) / total : 0;
  const refusal = synchronize.refusal ?? connect.refusal;
  return (
    <Card title="Synchronization">
      {advice && <Notice kind={mark === 'bad' ? 'bad' : 'warn'}>{advice}</Notice>}
      <Progress value={share} aria-label="Contacts fetched" mb="sm" />
      <Facts
        rows={[
          ['State', SYNCS[sync]],
          ['From the CRM', `${count(fetched)} of ${total === null ? 'an unknown number of' : count(total)} contacts`],
          ['To the CRM', `${plural(offered, 'contact')} compared`],
          ['Account there', location],
          [
            'Last failure',
            error ? (
              <span key="error">
                <Time at={error_at} full />: {error}
              </span>
            ) : (
              'none'
            ),
          ],
        ]}
      />
      {refusal && <Refused refusal={refusal} />}
      <Group mt="md">
        <Button
          variant="default"
          loading={synchronize.isBusy}
          disabled={sync !== 'done'}
          onClick={async () => (await synchronize.run({ id: integration_id })) && onChanged()}
        >
          Synchronize again
        </Button>
        {state === 'lost' && (
          <Button loading={connect.isBusy} onClick={() => void again()}>
            Connect again
          </Button>
        )}
      </Group>
    </Card>
  );
}
