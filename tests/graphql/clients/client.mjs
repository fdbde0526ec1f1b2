// Looks on with a reference client until three texts have come in: client.mjs ws|sse ADDRESS KEY.
// One JSON line for each update.

import { createClient as createSse } from 'graphql-sse';
import { createClient as createWs } from 'graphql-ws';

const [kind, address, key] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}` };
const client =
  kind === 'ws'
    ? createWs({ url: `ws://${address}`, connectionParams: headers, retryAttempts: 0 })
    : createSse({ url: `http://${address}`, headers, retryAttempts: 0 });

const query = 'subscription { updates(after: 0, kinds: [new_message]) { id ... on NewMessageUpdate { message { body } } } }';
let seen = 0;
for await (const { data, errors } of client.iterate({ query })) {
  if (errors) throw new Error(JSON.stringify(errors));
  console.log(JSON.stringify(data.updates));
  if (++seen === 3) break;
}
client.dispose();
