// Putting a conversation off: it comes back at a time, or when the person writes.

import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import type { Conversation } from '../../graphql/index.ts';
import { useKeys } from '../../shell/keys.ts';
import { hourIn, instant, localIn, offerUndo, useAct, zoneOf } from '../../ui/index.ts';
import { SetStatus, Snooze } from './mutations.ts';
import { nextOf } from './order.ts';

const MORNING = 9;

/** Return the times that are offered, from now on, on the clock of the viewer. */
export function times(now: Date): [string, Date][] {
  const later = new Date(now.getTime() + 3 * 60 * 60 * 1000);
  const today = localIn(zoneOf(), now);
  const tomorrow = hourIn(zoneOf(), today, 1, MORNING);
  const monday = hourIn(zoneOf(), today, (8 - new Date(`${today}Z`).getUTCDay()) % 7 || 7, MORNING);
  return [
    ['In 3 hours', later],
    ['Tomorrow at 9', tomorrow],
    ['On Monday at 9', monday],
  ];
}

interface SnoozeMenuProps {
  conversation: Conversation;
  /** Called with the conversation that is shown next. */
  onSnoozed: (next?: number) => void;
}

export function SnoozeMenu({ conversation: { id, contact }, onSnoozed }: SnoozeMenuProps) {
  const [openedAt, setOpenedAt] = useState<Date | null>(null);
  const act = useAct(Snooze, true);
  const reopen = useAct(SetStatus, true);
  useKeys((key) => {
    if (key === 's') setOpenedAt(new Date());
  });
  const snooze = async (until: Date) => {
    const next = nextOf(id);
    if (!(await act.run({ id, snoozed_until: until.toISOString() }))) return;
    onSnoozed(next);
    void offerUndo(`Put off: ${contact.label}`, () => void reopen.run({ id, status: 'open' }));
  };
  return (
    <Menu opened={openedAt !== null} onChange={(opened) => setOpenedAt(opened ? new Date() : null)}>
      <Menu.Target>
        <Button variant="default" size="xs" loading={act.isBusy}>
          Snooze
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {openedAt &&
          times(openedAt).map(([label, until]) => (
            <Menu.Item key={label} title={instant(until.toISOString())} onClick={() => void snooze(until)}>
              {label}
            </Menu.Item>
          ))}
      </Menu.Dropdown>
    </Menu>
  );
}
