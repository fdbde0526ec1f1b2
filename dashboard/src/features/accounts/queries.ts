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
    creator {
      label
      user {
        id
        email
      }
    }
  }
`);

export const Keys = graphql(
  `
    query KeysPage($active_only: Boolean!) {
      api_keys(active_only: $active_only) {
        id
        ...KeyRow
      }
    }
  `,
  [KeyRow],
);

export const AutomationKeys = graphql(
  `
    query KeysPageOfMember($active_only: Boolean!) {
      automation_keys(active_only: $active_only) {
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
      deletion_at
    }
  }
`);

export const Sending = graphql(`
  query SendingPage {
    account {
      id
      limits_transactional
      weekly_cap
      smart_encoding
      fold_accents
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
      as_of
      is_verified
      overrides_law
      is_overridden
    }
  }
`);

export type Rule = ResultOf<typeof Sending>['quiet_hours'][number];

export const Scopes = graphql(`
  query ScopeWords {
    scopes {
      name
      description
      is_for_automation
    }
  }
`);

export const AvailableScopes = graphql(`
  query KeyScopes($kind: KeyKind!) {
    available_scopes(kind: $kind) {
      name
      description
      is_for_automation
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
      mail_folder
    }
  }
`);

export const Sessions = graphql(`
  query SessionsPage {
    sessions {
      id
      user_id
      device
      address
      user_agent
      created_at
      last_used_at
      is_current
      user {
        id
        email
        first_name
        last_name
      }
    }
  }
`);

export type Session = ResultOf<typeof Sessions>['sessions'][number];

const Audit = graphql(`
  query AuditPage($action: AuditAction, $actor: String, $since: DateTime, $until: DateTime, $after: String) {
    audit_log(action: $action, actor: $actor, since: $since, until: $until, first: 50, after: $after) {
      nodes {
        id
        action
        subject
        address
        details
        created_at
        actor {
          label
          user {
            id
            email
          }
          key {
            id
            name
          }
          application {
            id
            client_name
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

export type Entry = Log['audit_log']['nodes'][number];

export const auditListing: Listing<Log, VariablesOf<typeof Audit>, Entry> = {
  document: Audit,
  connectionOf: ({ audit_log }) => audit_log,
};
