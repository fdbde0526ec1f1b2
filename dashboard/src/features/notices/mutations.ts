import { graphql } from '../../graphql/index.ts';

export const Read = graphql(`
  mutation NoticesRead($up_to: BigInt!, $since: BigInt) {
    read_notices(up_to: $up_to, since: $since) {
      unread
    }
  }
`);

export const Choose = graphql(`
  mutation NoticesChoose($kind: NoticeKind!, $in_browser: Boolean!, $by_mail: Boolean!) {
    update_notice_setting(kind: $kind, in_browser: $in_browser, by_mail: $by_mail) {
      kind
      in_browser
      by_mail
    }
  }
`);
