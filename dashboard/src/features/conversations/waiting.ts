// The texts that a person left waiting: they leave from any page, and the code for it is loaded only if there are any.

import type { Client } from '@urql/core';

export function sendWaiting(client: Client, userId: number): void {
  const kept = localStorage.getItem(`outbox-${userId}`) ?? '[]';
  if (kept === '[]') return;
  const opened = import('./outbox.ts').then(({ openOutbox }) => openOutbox(client, userId));
  opened.catch(() => {}); // without a connection they wait for the next page
}
