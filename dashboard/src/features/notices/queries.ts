import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const Unread = graphql(`
  query NoticesUnread {
    notices(unread: true, first: 1) {
      nodes {
        id
      }
      total_count
    }
  }
`);

const Notices = graphql(`
  query NoticesPanel($after: String) {
    notices(first: 20, after: $after) {
      nodes {
        id
        kind
        title
        body
        count
        read_at
        created_at
        subject_id
        contact_id
        conversation {
          id
        }
      }
      page_info {
        has_next_page
        end_cursor
      }
    }
  }
`);

type Data = ResultOf<typeof Notices>;

export type Notice = Data['notices']['nodes'][number];

export const noticesListing: Listing<Data, VariablesOf<typeof Notices>, Notice> = {
  document: Notices,
  connectionOf: ({ notices }) => notices,
};

export const Newest = graphql(`
  query NoticesNewest {
    notices(unread: true, first: 1) {
      nodes {
        id
        title
        body
        created_at
      }
    }
  }
`);

export const Settings = graphql(`
  query NoticesSettings {
    notice_settings {
      kind
      in_browser
      by_mail
    }
  }
`);

export type Kind = Notice['kind'];
