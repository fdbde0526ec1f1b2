// The number of unread notices, which the live updates keep, and the notices of the browser.

import type { Client } from '@urql/core';
import { useEffect } from 'react';
import { useClient } from 'urql';
import { createStore, useUpdates } from '../../graphql/index.ts';
import { Newest, Unread } from './queries.ts';

export const unread = createStore(0);

let isCounted = false;

/** Keep the number of unread notices for as long as the page is open. */
export function useNotices(): void {
  const client = useClient();
  useEffect(() => void count(client), [client]);
  useUpdates((update) => {
    if (update === 'missed') void count(client);
    else if (update.__typename === 'NoticeUpdate') keep(client, update.unread);
  });
}

async function count(client: Client): Promise<void> {
  const { data } = await client.query(Unread, {}, { requestPolicy: 'network-only' });
  if (data) keep(client, data.notices.total_count);
}

/** Keep a number; show the newest notice if it is larger than the one before, however that became known. */
function keep(client: Client, total: number): void {
  const isMore = isCounted && total > unread.get();
  isCounted = true;
  unread.set(total);
  if (isMore) void show(client);
}

/** Have the browser show the newest notice, once for all windows, while none of them is in front. */
async function show(client: Client): Promise<void> {
  if (!isAllowed() || document.hasFocus()) return;
  const { data } = await client.query(Newest, {}, { requestPolicy: 'network-only' });
  const newest = data?.notices.nodes[0];
  if (!newest) return;
  const shown = new Notification(newest.title, { body: newest.body, tag: `notice-${newest.id}` });
  shown.onclick = () => window.focus();
}

export function isAllowed(): boolean {
  return 'Notification' in window && Notification.permission === 'granted';
}
