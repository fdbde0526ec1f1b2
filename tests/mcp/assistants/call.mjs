// Uses the tools with the SDKs of TypeScript: call.mjs ADDRESS KEY CLIENT, of which CLIENT is v1, legacy or auto (v2 in
// the two eras of the protocol). It prints the results as JSON lines.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientOfV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportOfV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [address, key, kind] = process.argv.slice(2);
const options = { requestInit: { headers: { Authorization: `Bearer ${key}` } } };
const info = { name: 'tests', version: '1' };
const [client, transport] =
  kind === 'v1'
    ? [new ClientOfV1(info), new TransportOfV1(new URL(address), options)]
    : [new Client(info, { versionNegotiation: { mode: kind } }), new StreamableHTTPClientTransport(new URL(address), options)];
await client.connect(transport);
const say = (value) => console.log(JSON.stringify(value));
const call = (name, args) => client.callTool({ name, arguments: args });

say((await client.listTools()).tools.length);
say((await call('create_contact', { phone: '+12025550143', tags: ['vip'] })).structuredContent.tags);
say((await call('get_balance', {})).structuredContent.balance);
const refused = await call('get_contact', { contact_id: 0 });
say([refused.isError, JSON.parse(refused.content[0].text).error_code]);
say(await call('no_tool', {}).catch((error) => error.code));
const resource = await client.readResource({ uri: 'sms://account' });
say(JSON.parse(resource.contents[0].text).company_name);
say((await client.getPrompt({ name: 'weekly_report' })).messages.length);
await client.close();
