// Signs in with the SDK of TypeScript, and again for a scope that a tool needs: sign_in.mjs ADDRESS REDIRECT_URI.
// It prints each address that a person has to open, reads the one that the browser was sent back to, and prints the
// results as JSON lines.

import { createInterface } from 'node:readline/promises';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const [address, redirect_uri] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => console.log(JSON.stringify(value));

const kept = {};
const provider = {
  redirectUrl: redirect_uri,
  clientMetadata: {
    client_name: 'Assistant',
    redirect_uris: [redirect_uri],
    token_endpoint_auth_method: 'none',
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => (kept.tokens = tokens),
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (discovery) => (kept.discovery = discovery),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => (kept.verifier = verifier),
  redirectToAuthorization: (url) => say(url.href),
};

const open = () => new StreamableHTTPClientTransport(new URL(address), { authProvider: provider });
const connect = async (transport) => {
  const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(transport);
  return client;
};
const signIn = async (transport, asked) => {
  if (!(asked instanceof UnauthorizedError)) throw asked;
  await transport.finishAuth(new URL((await lines.next()).value).searchParams);
};

const first = open();
await connect(first).catch((asked) => signIn(first, asked));
const transport = open();
const client = await connect(transport);
const call = async (name, args) => client.callTool({ name, arguments: args });
const contact = (await call('create_contact', { phone: '+12025550143' })).structuredContent;
say(contact.phone);
const remove = () => call('delete_contact', { contact_id: contact.id });
const refused = await remove().catch(async (asked) => {
  await signIn(transport, asked);
  return remove();
});
say(JSON.parse(refused.content[0].text).error_code);
await client.close();
process.exit();
