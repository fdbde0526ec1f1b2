// Connects with openid-client, the certified client: connect.mjs BASE_URL REDIRECT_URI [CLIENT_ID CLIENT_SECRET].
// Without a client it registers itself. It prints the address that a person has to open, reads the one that the
// browser was sent back to, and then prints what each step gave, as JSON lines.

import { createInterface } from 'node:readline/promises';
import * as oauth from 'openid-client';

const [base, redirect_uri, id, secret] = process.argv.slice(2);
const insecure = { execute: [oauth.allowInsecureRequests], algorithm: 'oauth2' };
const config = id
  ? await oauth.discovery(new URL(base), id, secret, oauth.ClientSecretBasic(secret), insecure)
  : await oauth.dynamicClientRegistration(
      new URL(base),
      { client_name: 'openid-client', redirect_uris: [redirect_uri], token_endpoint_auth_method: 'none' },
      oauth.None(),
      insecure,
    );
const say = (value) => console.log(JSON.stringify(value));

const verifier = oauth.randomPKCECodeVerifier();
const state = oauth.randomState();
const url = oauth.buildAuthorizationUrl(config, {
  redirect_uri,
  scope: 'account:read contacts:read',
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
  state,
});
say(url.href);

const input = createInterface({ input: process.stdin });
const [back] = (await input[Symbol.asyncIterator]().next()).value.split('\n');
input.close();

const checks = { pkceCodeVerifier: verifier, expectedState: state };
const first = await oauth.authorizationCodeGrant(config, new URL(back), checks);
say({ scope: first.scope, expires_in: first.expires_in, token_type: first.token_type });
const call = async (token) =>
  (await oauth.fetchProtectedResource(config, token, new URL(`${base}/contacts`), 'GET')).status;
say(await call(first.access_token));

const second = await oauth.refreshTokenGrant(config, first.refresh_token);
say({ rotated: second.refresh_token !== first.refresh_token, status: await call(second.access_token) });

await oauth.tokenRevocation(config, second.refresh_token);
say(await call(second.access_token).catch((refused) => refused.cause[0].parameters.error));
