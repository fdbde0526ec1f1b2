// The notices that the person wants: in the browser, by mail, or not at all.

import { Button, Checkbox } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Badge, Card, Failure, Refused, Skeleton, Table, useAct } from '../../ui/index.ts';
import { SettingsPage } from '../accounts/index.ts';
import { KINDS } from './model.ts';
import { Choose } from './mutations.ts';
import { Settings } from './queries.ts';

export function NoticesPage() {
  const [{ data, error }, again] = useQuery({ query: Settings });
  const act = useAct(Choose);
  return (
    <SettingsPage title="Notices">
      {error && <Failure error={error} retry={again} />}
      {!data && !error && <Skeleton />}
      {act.refusal && <Refused refusal={act.refusal} />}
      {data && (
        <Card title="Tell me when">
          <Table
            label="Kinds of notices"
            isCompact
            rows={data.notice_settings}
            keyOf={({ kind }) => kind}
            columns={[
              { title: 'What happens', cell: ({ kind }) => KINDS[kind] },
              {
                title: 'Here',
                cell: (row) => (
                  <Checkbox
                    aria-label={`Here: ${KINDS[row.kind]}`}
                    checked={row.in_browser}
                    onChange={({ currentTarget }) => void act.run({ ...row, in_browser: currentTarget.checked })}
                  />
                ),
              },
              {
                title: 'By mail',
                cell: (row) => (
                  <Checkbox
                    aria-label={`By mail: ${KINDS[row.kind]}`}
                    checked={row.by_mail}
                    onChange={({ currentTarget }) => void act.run({ ...row, by_mail: currentTarget.checked })}
                  />
                ),
              },
            ]}
          />
          <p>A notice about a conversation is mailed after five minutes, unless it was read before.</p>
        </Card>
      )}
      {(data || error) && <Desktop />}
    </SettingsPage>
  );
}

/** The notices of the browser itself: it is asked for its permission on a click only. */
function Desktop() {
  const [permission, setPermission] = useState(() => ('Notification' in window ? Notification.permission : 'denied'));
  const ask = async () => setPermission(await Notification.requestPermission());
  return (
    <Card title="On this computer">
      <p>While no window of Messaging is in front, the browser can show each new notice beside the clock.</p>
      {permission === 'granted' && <Badge kind="good">Allowed in this browser</Badge>}
      {permission === 'denied' && (
        <p>This browser does not allow it. Change that in its settings of this site, then load the page again.</p>
      )}
      {permission === 'default' && (
        <Button variant="default" onClick={() => void ask()}>
          Show notices on this computer
        </Button>
      )}
    </Card>
  );
}
