// One integration: its health, its address with the steps at the other side, what it does, and what came.

import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Absent, Badge, ConfirmButton, Page, useAct } from '../../ui/index.ts';
import { Bookings } from './Bookings.tsx';
import { BookingSettings } from './BookingSettings.tsx';
import { CrmCard } from './CrmCard.tsx';
import { Events } from './Events.tsx';
import { HealthCard } from './HealthCard.tsx';
import { HookCard } from './HookCard.tsx';
import { crmHealthOf, healthOf, makeSecret, WEBHOOK } from './model.ts';
import { Pause, Remove, Resume, Rotate } from './mutations.ts';
import { Pushes } from './Pushes.tsx';
import { type Crm, One, type Whole } from './queries.ts';
import { SetUp } from './SetUp.tsx';
import { handOver } from './secrets.ts';

const route = getRouteApi('/settings/integrations/$id');

export function IntegrationPage() {
  const { id } = route.useParams();
  const [{ data, error, fetching }, again] = useQuery({
    query: One,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const reload = () => again({ requestPolicy: 'network-only' });
  const integration = data?.integration;
  const crm = data?.crm_connections.find(({ integration_id }) => integration_id === id);
  if (integration) return <Shown key={id} integration={integration} crm={crm} onChanged={reload} />;
  return (
    <Absent title="Integration" isLoading={fetching} error={error} retry={reload}>
      There is no such integration.
    </Absent>
  );
}

interface ShownProps {
  integration: Whole;
  crm?: Crm;
  onChanged: () => void;
}

function Shown({ integration, crm, onChanged }: ShownProps) {
  const { mark, word } = crm ? crmHealthOf(crm, integration) : healthOf(integration);
  const mayRead = useMay('contacts:read');
  const isHook = integration.kind === WEBHOOK;
  return (
    <Page
      title={integration.name}
      aside={<Badge kind={mark}>{word}</Badge>}
      actions={<Actions integration={integration} isCrm={crm !== undefined} onChanged={onChanged} />}
    >
      {crm ? (
        <CrmCard crm={crm} integration={integration} onChanged={onChanged} />
      ) : (
        <>
          <SetUp integration={integration} />
          <HealthCard integration={integration} />
        </>
      )}
      {isHook && <HookCard id={integration.id} />}
      {!isHook && !crm && <BookingSettings integration={integration} />}
      {!isHook && !crm && mayRead && <Bookings integration_id={integration.id} />}
      {crm && <Pushes integration_id={integration.id} />}
      <Events integration_id={integration.id} onChanged={onChanged} />
    </Page>
  );
}

function Actions({
  integration: { id, name, status },
  isCrm,
  onChanged,
}: Omit<ShownProps, 'crm'> & { isCrm: boolean }) {
  const navigate = useNavigate();
  const pause = useAct(Pause);
  const resume = useAct(Resume);
  const rotate = useAct(Rotate);
  const remove = useAct(Remove);
  const rotated = async () => {
    const secret = makeSecret();
    const done = await rotate.run({ id, secret });
    if (done) handOver(id, secret);
    return done;
  };
  return (
    <>
      {status === 'active' ? (
        <ConfirmButton
          label="Pause"
          title={`Pause ${name}?`}
          act={`Pause ${name}`}
          state={pause}
          run={() => pause.run({ id })}
        >
          New events are kept, and wait with their texts until you resume it. Texts that are too late then are skipped.
        </ConfirmButton>
      ) : (
        <ConfirmButton
          label="Resume"
          title={`Resume ${name}?`}
          act={`Resume ${name}`}
          isDangerous={false}
          state={resume}
          run={() => resume.run({ id })}
        >
          Events that waited are applied now. Texts that are too late by now are skipped.
        </ConfirmButton>
      )}
      {!isCrm && (
        <ConfirmButton
          label="New secret"
          title={`Create a new secret for ${name}?`}
          act="Create a new secret"
          isDangerous={false}
          state={rotate}
          run={rotated}
          onDone={onChanged}
        >
          The present secret is accepted for 24 hours more, so that nothing is lost while you change it.
        </ConfirmButton>
      )}
      <ConfirmButton
        label={isCrm ? 'Disconnect' : 'Remove'}
        title={`${isCrm ? 'Disconnect' : 'Remove'} ${name}?`}
        act={`${isCrm ? 'Disconnect' : 'Remove'} ${name}`}
        state={remove}
        run={() => remove.run({ id })}
        onDone={() => void navigate({ to: '/settings/integrations', ignoreBlocker: true })}
      >
        {isCrm
          ? 'Nothing more is exchanged with the CRM, and the authorization is taken back there. The log is deleted.'
          : 'New events are refused from now on, and the texts that wait are not sent. The log and the bookings are deleted.'}{' '}
        Contacts and sent texts stay.
      </ConfirmButton>
    </>
  );
}
