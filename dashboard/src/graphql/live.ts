// Live updates: the service tells of every change, and none is lost with a connection.

import type { Client, CombinedError } from '@urql/core';
import { useEffect, useEffectEvent } from 'react';
import { toAsyncIterable } from 'wonka';
import { graphql, type ResultOf } from './graphql.ts';
import { freshOf } from './kept.ts';
import { CampaignProgress, ConversationRow, MessageRow } from './rows.ts';
import { signInAgain } from './session.ts';
import { createStore } from './store.ts';

/** The position of the updates: read before the records, so that no update between the two is missed. */
export const LastUpdate = graphql('query LastUpdate { last_update_id }');

const Updates = graphql(
  `
    subscription Updates($after: BigInt!) {
      updates(after: $after) {
        __typename
        id
        ... on NewMessageUpdate {
          message {
            id
            ...MessageRow
          }
          conversation {
            id
            ...ConversationRow
          }
        }
        ... on MessageStatusUpdate {
          message {
            id
            ...MessageRow
          }
          conversation {
            id
            ...ConversationRow
          }
        }
        ... on ConversationUpdate {
          conversation {
            id
            ...ConversationRow
          }
        }
        ... on ContactUpdate {
          contact_id
        }
        ... on NoteUpdate {
          conversation_id
        }
        ... on PresenceUpdate {
          conversation_id
          typing
          actor {
            kind
            id
            label
          }
        }
        ... on JobProgressUpdate {
          job {
            id
            kind
            status
            total
            done
            changed
            failed
          }
        }
        ... on NoticeUpdate {
          unread
        }
        ... on CampaignUpdate {
          campaign {
            id
            ...CampaignProgress
          }
        }
      }
    }
  `,
  [CampaignProgress, ConversationRow, MessageRow],
);

export type Update = ResultOf<typeof Updates>['updates'];

const LONGEST_PAUSE = 10_000;

export const connection = createStore<'connecting' | 'live' | 'lost'>('connecting');

const listeners = new Set<(update: Update | 'missed') => void>();

/** Follow the updates for as long as the page is open, from a position that was read before the records. */
export async function follow(client: Client, from?: number): Promise<never> {
  let after = from ?? (await lastUpdate(client));
  if (from === undefined) tell('missed');
  let pause = 250;
  for (;;) {
    let ended: CombinedError | undefined;
    for await (const { data, error } of toAsyncIterable(client.subscription(Updates, { after }))) {
      if (error) ended = error;
      if (error || !data) break;
      after = data.updates.id;
      pause = 250;
      tell(data.updates);
    }
    if (isForbidden(ended)) await signInAgain();
    else {
      connection.set('lost');
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
    if (ended && ended.graphQLErrors.length > 0) {
      after = await lastUpdate(client);
      tell('missed');
    }
  }
}

function tell(update: Update | 'missed'): void {
  for (const listener of [...listeners]) listener(update);
}

/** Load the lists that are shown again, after a change of one's own: its update may come later. */
export function changed(): void {
  tell('missed');
}

async function lastUpdate(client: Client): Promise<number> {
  for (;;) {
    const data = freshOf(await client.query(LastUpdate, {}, { requestPolicy: 'network-only' }));
    if (data) return data.last_update_id;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}

function isForbidden(error?: CombinedError): boolean {
  const cause = error?.networkError;
  return cause !== undefined && 'code' in cause && cause.code === 4403;
}

/** Call a function with every update; with `missed` when updates were lost, and everything is to be loaded again. */
export function useUpdates(listener: (update: Update | 'missed') => void): void {
  const latest = useEffectEvent(listener);
  useEffect(() => {
    const call = (update: Update | 'missed') => latest(update);
    listeners.add(call);
    return () => {
      listeners.delete(call);
    };
  }, []);
}
