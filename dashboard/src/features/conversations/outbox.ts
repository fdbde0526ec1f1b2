// Texts on their way: each is written down before it is sent, and sent again with the same key until there is an answer.

import type { Client } from 'urql';
import { createStore, freshOf, isUnanswered, type Message, type Refusal, refusalOf } from '../../graphql/index.ts';
import { Reply } from './mutations.ts';
import { LatestTexts } from './queries.ts';

interface Written {
  conversationId: number;
  body: string;
  /** The id of the last message that the author saw, where it is known. */
  seen?: number;
  /** The version of the conversation that the author saw. */
  version?: number;
}

export interface Waiting extends Written {
  key: string;
  at: number;
  state: 'sending' | 'unconfirmed' | 'answered' | 'refused' | 'old';
  refusal?: Refusal;
  /** The answer of somebody else that came meanwhile. */
  answer?: Pick<Message, 'actor' | 'body'>;
}

/** The service knows a key for a day: an older text may have been sent, so a person decides. */
const LONGEST = 23 * 60 * 60 * 1000;
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 15_000;
const AGAIN = new Set(['idempotency_in_progress', 'rate_limited', 'unavailable', 'internal_error']);

export const outbox = createStore<Waiting[]>([]);

const listeners = new Set<(message: Message) => void>();
let place = '';
let viewerId = 0;
let isDraining = false;

/** Read what a person left waiting, and send it. */
export function openOutbox(client: Client, userId: number): void {
  if (place) return;
  place = `outbox-${userId}`;
  viewerId = userId;
  outbox.set(stored());
  window.addEventListener('online', () => void drain(client));
  window.addEventListener('storage', ({ key }) => key === place && outbox.set(stored()));
  void drain(client);
}

/** Send a text: it is in the outbox before this returns. */
export function send(client: Client, written: Written): void {
  const text: Waiting = { ...written, key: crypto.randomUUID(), at: Date.now(), state: 'sending' };
  keep([...stored(), text]);
  void drain(client);
}

export function discard(key: string): void {
  keep(stored().filter((each) => each.key !== key));
}

/** Send an old text again, with a new key. */
export function renew(client: Client, { key, conversationId, body }: Waiting): void {
  discard(key);
  send(client, { conversationId, body });
}

/** Send a text although somebody else has answered. */
export function insist(client: Client, key: string): void {
  change(key, { state: 'sending', answer: undefined });
  void drain(client);
}

/** Tell whether a message is one to the contact that another person, or the service, sent. */
export function isAnswerOfOthers({ direction, actor }: Message, userId: number): boolean {
  return direction === 'outbound' && !(actor.kind === 'user' && actor.id === userId);
}

/** Call a function with each message that the service accepted; return what ends that. */
export function onSent(listener: (message: Message) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Show a message that was accepted or changed outside of the outbox. */
export function show(message: Message): void {
  for (const listener of [...listeners]) listener(message);
}

async function drain(client: Client): Promise<void> {
  if (isDraining) return;
  isDraining = true;
  try {
    await inTurn(() => sendAll(client));
  } finally {
    isDraining = false;
  }
}

/** Send the texts in their order; a conversation whose text is not accepted yet is left out until after the pause. */
async function sendAll(client: Client): Promise<void> {
  const resting = new Set<number>();
  for (let pause = FIRST_PAUSE; ;) {
    const left = stored().filter(({ state }) => state === 'sending' || state === 'unconfirmed');
    if (left.length === 0) return;
    const next = left.find(({ conversationId }) => !resting.has(conversationId));
    const result = next ? await attempt(client, next) : 'unanswered';
    if (result === 'decided') pause = FIRST_PAUSE;
    else if (next && result === 'later') resting.add(next.conversationId);
    else {
      await rest(pause);
      pause = Math.min(pause * 2, LONGEST_PAUSE);
      resting.clear();
    }
  }
}

/** Wait for a while, or until the browser is connected again. */
function rest(pause: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      window.clearTimeout(timer);
      window.removeEventListener('online', end);
      resolve();
    };
    const timer = window.setTimeout(end, pause);
    window.addEventListener('online', end);
  });
}

/** Send a text once; return whether it is decided, to be tried again later, or without an answer. */
async function attempt(client: Client, text: Waiting): Promise<'decided' | 'later' | 'unanswered'> {
  if (Date.now() - text.at > LONGEST) return change(text.key, { state: 'old' });
  const { key, conversationId, body, seen, version } = text;
  const expected_version = seen === undefined ? null : version;
  const variables = { conversation_id: conversationId, body, idempotency_key: key, expected_version };
  const { data, error } = await client.mutation(Reply, variables);
  if (error && (isUnanswered(error) || AGAIN.has(refusalOf(error).code))) {
    change(key, { state: 'unconfirmed' });
    return isUnanswered(error) ? 'unanswered' : 'later';
  }
  if (error && refusalOf(error).code === 'conversation_changed') return compare(client, text);
  if (error) return change(key, { state: 'refused', refusal: refusalOf(error) });
  const message = data?.reply.message;
  if (message) show(message);
  discard(key);
  return 'decided';
}

/** Ask the author of a text about an answer that came meanwhile; without one, let the text be sent after all. */
async function compare(
  client: Client,
  { key, conversationId, seen = 0, version }: Waiting,
): Promise<'decided' | 'later'> {
  const result = await client.query(LatestTexts, { id: conversationId }, { requestPolicy: 'network-only' });
  const latest = freshOf(result)?.conversation;
  if (!latest) return 'later';
  const texts = latest.messages.nodes;
  const answer = texts.find((message) => message.id > seen && isAnswerOfOthers(message, viewerId));
  const known = { version: latest.version, seen: Math.max(seen, ...texts.map(({ id }) => id)) };
  if (!answer) {
    change(key, known);
    return latest.version === version ? 'later' : 'decided';
  }
  return change(key, { ...known, state: 'answered', answer: { actor: answer.actor, body: answer.body } });
}

function change(key: string, to: Partial<Waiting>): 'decided' {
  keep(stored().map((each) => (each.key === key ? { ...each, ...to } : each)));
  return 'decided';
}

function stored(): Waiting[] {
  return JSON.parse(localStorage.getItem(place) ?? '[]') as Waiting[];
}

function keep(texts: Waiting[]): void {
  localStorage.setItem(place, JSON.stringify(texts));
  outbox.set(texts);
}

/** Let one tab of the browser send at a time. */
function inTurn(work: () => Promise<void>): Promise<void> {
  return 'locks' in navigator ? navigator.locks.request(place, work) : work();
}
