// The messages of a conversation, the oldest first, with what comes in and what is accepted meanwhile.

import { useEffect, useReducer } from 'react';
import { type Message, usePages, useThrottled, useUpdates } from '../../graphql/index.ts';
import { threadListing } from './queries.ts';
import { onSent } from './outbox.ts';

type News = ReadonlyMap<number, Message>;

export function useThread(id: number) {
  const pages = usePages(threadListing, { id });
  const refresh = useThrottled(pages.refresh);
  const [news, add] = useReducer(withMessage, new Map());
  useUpdates((update) => {
    if (update === 'missed') pages.refresh();
    else if (update.__typename === 'CampaignUpdate') refresh();
    else if ('message' in update && update.message?.conversation_id === id) add(update.message);
  });
  useEffect(() => onSent((message) => message.conversation_id === id && add(message)), [id]);
  return { ...pages, messages: merged(pages.rows, news) };
}

/** Keep the latest state of a message: the answer to its sending may come after its delivery. */
function withMessage(news: News, message: Message): News {
  const known = news.get(message.id);
  return known && isFinal(known) && !isFinal(message) ? news : new Map(news).set(message.id, message);
}

function isFinal({ status }: Message): boolean {
  return status !== 'pending' && status !== 'sent';
}

function merged(rows: Message[], news: News): Message[] {
  const all = new Map(rows.map((row) => [row.id, row]));
  for (const [id, message] of news) all.set(id, message);
  return [...all.values()].sort((one, other) => one.id - other.id);
}
