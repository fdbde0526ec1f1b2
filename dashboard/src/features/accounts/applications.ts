// The documents of applications: grants that people gave, and the account's own OAuth clients.

import { graphql, type ResultOf } from '../../graphql/index.ts';

export const Grants = graphql(`
  query ApplicationsPage {
    oauth_grants {
      id
      client_name
      user_id
      user {
        email
      }
      scopes
      created_at
      last_used_at
      revoked_at
    }
  }
`);

export type Grant = ResultOf<typeof Grants>['oauth_grants'][number];

export const Disconnect = graphql(`
  mutation ApplicationsDisconnect($id: BigInt!) {
    revoke_oauth_grant(id: $id) {
      id
      revoked_at
    }
  }
`);

const ClientRow = graphql(`
  fragment ClientRow on OauthClient @_unmask {
    id
    client_id
    name
    redirect_uris
    scopes
    confidential
    created_at
    last_used_at
    revoked_at
    creator {
      label
      user {
        id
        email
      }
    }
  }
`);

export const OwnClients = graphql(
  `
    query ApplicationsClients {
      oauth_clients {
        id
        ...ClientRow
      }
    }
  `,
  [ClientRow],
);

export type OauthClient = ResultOf<typeof OwnClients>['oauth_clients'][number];

export const Register = graphql(`
  mutation ApplicationsRegister(
    $name: String!
    $redirect_uris: [String!]!
    $scopes: [String!]
    $confidential: Boolean!
    $key: String
  ) {
    create_oauth_client(
      name: $name
      redirect_uris: $redirect_uris
      scopes: $scopes
      confidential: $confidential
      idempotency_key: $key
    ) {
      client_id
      client_secret
    }
  }
`);

export const RotateSecret = graphql(`
  mutation ApplicationsRotate($id: BigInt!) {
    rotate_oauth_client_secret(id: $id) {
      client_id
      client_secret
    }
  }
`);

export const TakeOver = graphql(
  `
    mutation ApplicationsTakeOver($id: BigInt!) {
      take_over_oauth_client(id: $id) {
        id
        ...ClientRow
      }
    }
  `,
  [ClientRow],
);

export const RevokeClient = graphql(`
  mutation ApplicationsRevoke($id: BigInt!) {
    revoke_oauth_client(id: $id) {
      id
      revoked_at
    }
  }
`);
