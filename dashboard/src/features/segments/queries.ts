import { graphql, type Listing, type ResultOf, type VariablesOf } from '../../graphql/index.ts';

export const SegmentRow = graphql(`
  fragment SegmentRow on Segment @_unmask {
    id
    name
    summary
    filter
    version
    updated_at
  }
`);

const Segments = graphql(
  `
    query SegmentsPage($after: String) {
      segments(first: 50, after: $after) {
        nodes {
          id
          ...SegmentRow
        }
        page_info {
          has_next_page
          end_cursor
        }
      }
    }
  `,
  [SegmentRow],
);

type Data = ResultOf<typeof Segments>;

export type Segment = Data['segments']['nodes'][number];

export const segmentsListing: Listing<Data, VariablesOf<typeof Segments>, Segment> = {
  document: Segments,
  connectionOf: ({ segments }) => segments,
};

export const SegmentOne = graphql(
  `
    query SegmentPage($id: BigInt!) {
      segment(id: $id) {
        id
        ...SegmentRow
      }
    }
  `,
  [SegmentRow],
);

export const SegmentFields = graphql(`
  query SegmentFields {
    segment_fields {
      name
      description
      kind
      operators
      choices
    }
  }
`);

export type Field = ResultOf<typeof SegmentFields>['segment_fields'][number];

export const SegmentTags = graphql(`
  query SegmentTags {
    tags {
      name
    }
  }
`);

export const SegmentUsers = graphql(`
  query SegmentUsers {
    users {
      id
      email
      first_name
    }
  }
`);

export const SegmentCampaigns = graphql(`
  query SegmentCampaigns {
    campaigns(first: 200) {
      nodes {
        id
        name
      }
    }
  }
`);

export const SegmentSequences = graphql(`
  query SegmentSequences {
    sequences(first: 200) {
      nodes {
        id
        name
      }
    }
  }
`);

export const SegmentPreviewed = graphql(`
  query SegmentPreviewed($filter: SegmentFilter!) {
    preview_segment(filter: $filter) {
      total_count
      sendable_count
      is_exact
      samples {
        id
        label
        status
        dnd_sms
      }
    }
  }
`);

export const SegmentSize = graphql(`
  query SegmentSize($id: BigInt!) {
    preview_segment(id: $id) {
      total_count
      sendable_count
      is_exact
    }
  }
`);

export const SegmentNames = graphql(`
  query SegmentNames {
    segments(first: 200) {
      nodes {
        id
        name
      }
    }
  }
`);
