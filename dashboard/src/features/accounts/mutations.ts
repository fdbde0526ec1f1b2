import { graphql } from '../../graphql/index.ts';

export const CreateKey = graphql(`
  mutation KeysCreate($name: String!, $scopes: [String!], $expires_at: DateTime, $idempotency_key: String) {
    create_api_key(name: $name, scopes: $scopes, expires_at: $expires_at, idempotency_key: $idempotency_key) {
      id
      name
      key
    }
  }
`);

export const CreateAutomationKey = graphql(`
  mutation KeysCreateAutomation($name: String!, $scopes: [String!], $expires_at: DateTime, $idempotency_key: String) {
    create_automation_key(name: $name, scopes: $scopes, expires_at: $expires_at, idempotency_key: $idempotency_key) {
      id
      name
      key
    }
  }
`);

export const RevokeKey = graphql(`
  mutation KeysRevoke($id: BigInt!) {
    revoke_api_key(id: $id) {
      id
      revoked_at
    }
  }
`);

export const RevokeAutomationKey = graphql(`
  mutation KeysRevokeAutomation($id: BigInt!) {
    revoke_automation_key(id: $id) {
      id
      revoked_at
    }
  }
`);

export const RotateKey = graphql(`
  mutation KeysRotate($id: BigInt!) {
    rotate_api_key(id: $id, overlap_hours: 24) {
      id
      name
      key
    }
  }
`);

export const UpdateCompany = graphql(`
  mutation CompanyUpdate($changes: AccountChanges!) {
    update_account(changes: $changes) {
      id
      company_name
      region
      support_contact
      time_zone
    }
  }
`);

export const UpdateSending = graphql(`
  mutation SendingUpdate($changes: AccountChanges!) {
    update_account(changes: $changes) {
      id
      limits_transactional
      weekly_cap
      smart_encoding
      fold_accents
    }
  }
`);

export const Invite = graphql(`
  mutation PeopleInvite($email: String!, $role: Role!) {
    invite_user(email: $email, role: $role) {
      id
      email
    }
  }
`);

export const Withdraw = graphql(`
  mutation PeopleWithdraw($id: BigInt!) {
    withdraw_invitation(id: $id) {
      id
    }
  }
`);

export const ChangeRole = graphql(`
  mutation PeopleRole($id: BigInt!, $role: Role!) {
    change_role(id: $id, role: $role) {
      id
      role
    }
  }
`);

export const Remove = graphql(`
  mutation PeopleRemove($id: BigInt!) {
    remove_user(id: $id) {
      id
    }
  }
`);

export const UpdateViewer = graphql(`
  mutation ProfileUpdate($changes: ViewerChanges!) {
    update_viewer(changes: $changes) {
      id
      first_name
      last_name
      time_zone
      locale
    }
  }
`);

export const EndSession = graphql(`
  mutation SessionsEnd($id: BigInt!) {
    end_session(id: $id) {
      id
    }
  }
`);

export const EndOtherSessions = graphql(`
  mutation SessionsEndOthers {
    end_other_sessions {
      sessions {
        id
      }
    }
  }
`);

export const AddQuietHours = graphql(`
  mutation SendingAddRule($rule: NewQuietHoursRule!) {
    add_quiet_hours(rule: $rule) {
      id
    }
  }
`);

export const RemoveQuietHours = graphql(`
  mutation SendingRemoveRule($id: String!) {
    remove_quiet_hours(id: $id) {
      id
    }
  }
`);

export const ExportAccount = graphql(`
  mutation CompanyExport {
    create_export_link {
      url
    }
  }
`);

export const DeleteAccount = graphql(`
  mutation CompanyDelete($confirm: String!) {
    request_account_deletion(confirm: $confirm) {
      account_id
      deletion_at
      credits
    }
  }
`);

export const KeepAccount = graphql(`
  mutation CompanyKeep {
    withdraw_account_deletion {
      id
      deletion_at
    }
  }
`);
