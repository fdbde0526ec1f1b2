import { graphql } from '../../graphql/index.ts';
import { SegmentRow } from './queries.ts';

export const CreateSegment = graphql(
  `
    mutation SegmentsCreate($name: String!, $filter: SegmentFilter!, $idempotency_key: String) {
      create_segment(name: $name, filter: $filter, idempotency_key: $idempotency_key) {
        id
        ...SegmentRow
      }
    }
  `,
  [SegmentRow],
);

export const UpdateSegment = graphql(
  `
    mutation SegmentsUpdate($id: BigInt!, $changes: SegmentChanges!, $version: Int!) {
      update_segment(id: $id, changes: $changes, expected_version: $version) {
        id
        ...SegmentRow
      }
    }
  `,
  [SegmentRow],
);

export const DeleteSegment = graphql(`
  mutation SegmentsDelete($id: BigInt!) {
    delete_segment(id: $id) {
      id
    }
  }
`);
