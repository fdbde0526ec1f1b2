import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const KeyRow = graphql(`
  fragment KeyRow on ApiKey @_unmask {
    id
    name
    prefix
    last_four
    scopes
    created_at
    expires_at
    last_used_at
    revoked_at
  }
`);

export const Keys = graphql(
  `
    query KeysPage {
      api_keys {
        id
        ...KeyRow
      }
    }
  `,
  [KeyRow],
);

export const AutomationKeys = graphql(
  `
    query KeysPageOfMember {
      automation_keys {
        id
        ...KeyRow
      }
    }
  `,
  [KeyRow],
);

export type Key = ResultOf<typeof Keys>['api_keys'][number];

export const Company = graphql(`
  query CompanyPage {
    account {
      id
      company_name
      region
      support_contact
      time_zone
      limits_transactional
      weekly_cap
      smart_encoding
      fold_accents
      deletion_at
    }
    quiet_hours {
      id
      origin
      jurisdiction
      weekdays
      start
      end
      cap
      source
      is_overridden
    }
  }
`);

export const People = graphql(`
  query PeoplePage {
    users {
      id
      email
      first_name
      last_name
      role
      created_at
      last_active_at
    }
  }
`);

export const Invitations = graphql(`
  query PeopleInvitations {
    invitations {
      id
      email
      role
      expires_at
    }
  }
`);

export const Sessions = graphql(`
  query ProfilePage {
    sessions {
      id
      user_id
      address
      user_agent
      last_used_at
      is_current
    }
    oauth_grants {
      id
      client_name
      user_id
      scopes
      created_at
      last_used_at
      revoked_at
    }
  }
`);

const Audit = graphql(`
  query AuditPage($action: AuditAction, $after: String) {
    audit_log(action: $action, first: 50, after: $after) {
      nodes {
        id
        action
        subject
        address
        created_at
        actor {
          label
          user {
            id
            email
          }
        }
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

type Log = ResultOf<typeof Audit>;

export const auditListing: Listing<Log, VariablesOf<typeof Audit>, Log['audit_log']['nodes'][number]> = {
  document: Audit,
  connectionOf: ({ audit_log }) => audit_log,
};
