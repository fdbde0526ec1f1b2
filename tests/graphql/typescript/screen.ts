// A screen for tests: takes commands from stdin, a line each, and prints what it shows whenever that changes.

import { createInterface } from 'node:readline';
import { CombinedError } from '@urql/core';
import { connect } from './client.ts';
import { readFragment } from './graphql.ts';
import { ConversationRow, openInbox, type Conversation } from './inbox.ts';
import type { End } from './list.ts';
import { follow, lastUpdate } from './live.ts';
import { send } from './send.ts';
import { MessageRow, markRead, openMessage, openThread, type Message } from './thread.ts';

const [url = '', key = ''] = process.argv.slice(2);
const client = connect(url, key);
const print = (shown: object) => console.log(JSON.stringify(shown));

const { fetch } = globalThis;
let requests = 0;
globalThis.fetch = (...asked) => (requests++, fetch(...asked));

let list: ReturnType<typeof openInbox> | undefined;
let connectAgain = () => {};

function showInbox(rows: Conversation[]): void {
  print({ inbox: readFragment(ConversationRow, rows) });
}

function showThread(rows: Message[]): void {
  print({ thread: readFragment(MessageRow, rows) });
}

function told(error: CombinedError) {
  return error.graphQLErrors.map(({ path, extensions: { code, field } }) => ({ path, code, field }));
}

function pause(): Promise<void> {
  print({ connection: 'lost' });
  return new Promise((resolve) => (connectAgain = resolve));
}

async function run(verb: string, word: string, rest: string): Promise<unknown> {
  const end: End = rest === 'end' ? 'end' : 'start';
  switch (verb) {
    case 'follow': {
      const after = await lastUpdate(client);
      void follow(client, after, pause).then((error) => print({ connection: told(error) }));
      return after;
    }
    case 'connect':
      return connectAgain();
    case 'inbox':
      list = openInbox(client, end, showInbox);
      return list.more();
    case 'thread':
      list = openThread(client, Number(word), end, showThread);
      return list.more();
    case 'more':
      return list?.more();
    case 'message': {
      const { data, error } = await openMessage(client, Number(word), Number(rest));
      return { ...data, errors: error && told(error) };
    }
    case 'requests':
      return requests;
    case 'send':
      return send(client, { conversation_id: Number(word), body: rest, idempotency_key: crypto.randomUUID() });
    case 'read':
      return markRead(client, Number(word), Number(rest));
  }
  throw new Error(`There is no command ${verb}.`);
}

for await (const line of createInterface(process.stdin)) {
  const [verb = '', word = '', ...rest] = line.split(' ');
  try {
    print({ done: (await run(verb, word, rest.join(' '))) ?? null });
  } catch (error) {
    print({ done: error instanceof CombinedError ? told(error) : String(error) });
  }
}
process.exit();
