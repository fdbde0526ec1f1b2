// The number of unread notices, which the live updates keep, and the notices of the browser.

import type { Client } from '@urql/core';
import { useEffect, useEffectEvent } from 'react';
import { useClient } from 'urql';
import { createStore, freshOf, useOneAtATime, useUpdates } from '../../graphql/index.ts';
import { Newest, Unread } from './queries.ts';

export const unread = createStore(0);

let isCounted = false;

/** The number of updates: an answer that was under way during one may be older than it. */
let updates = 0;

/** Keep the number of unread notices for as long as the page is open. */
export function useNotices(): void {
  const client = useClient();
  const count = useOneAtATime(() => ask(client));
  const begin = useEffectEvent(count);
  useEffect(() => begin(), []);
  useUpdates((update) => {
    if (update === 'missed') count();
    else if (update.__typename === 'NoticeUpdate') follow(client, update.unread);
  });
}

async function ask(client: Client): Promise<void> {
  const before = updates;
  const data = freshOf(await client.query(Unread, {}, { requestPolicy: 'network-only' }));
  if (data && updates === before) keep(client, data.notices.total_count);
}

function follow(client: Client, total: number): void {
  updates += 1;
  keep(client, total);
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
  const data = freshOf(await client.query(Newest, {}, { requestPolicy: 'network-only' }));
  const newest = data?.notices.nodes[0];
  if (!newest) return;
  const shown = new Notification(newest.title, { body: newest.body, tag: `notice-${newest.id}` });
  shown.onclick = () => window.focus();
}

export function isAllowed(): boolean {
  return 'Notification' in window && Notification.permission === 'granted';
}
