import { graphql } from '../../graphql/index.ts';
import { ContactRow } from './queries.ts';

export const CreateContact = graphql(
  `
    mutation ContactsCreate($contact: NewContact!, $idempotency_key: String) {
      create_contact(contact: $contact, idempotency_key: $idempotency_key) {
        id
        ...ContactRow
      }
    }
  `,
  [ContactRow],
);

export const UpdateContact = graphql(
  `
    mutation ContactsUpdate($id: BigInt!, $changes: ContactChanges!) {
      update_contact(id: $id, changes: $changes) {
        id
        ...ContactRow
        custom_fields {
          key
          label
          value
        }
      }
    }
  `,
  [ContactRow],
);

export const AddTag = graphql(
  `
    mutation ContactsAddTag($id: BigInt!, $tag: String!) {
      add_tag(id: $id, tag: $tag) {
        id
        ...ContactRow
      }
    }
  `,
  [ContactRow],
);

export const RemoveTag = graphql(
  `
    mutation ContactsRemoveTag($id: BigInt!, $tag: String!) {
      remove_tag(id: $id, tag: $tag) {
        id
        ...ContactRow
      }
    }
  `,
  [ContactRow],
);

export const AssignContact = graphql(`
  mutation ContactsAssign($id: BigInt!, $assignee_id: BigInt) {
    assign_contact(id: $id, assignee_id: $assignee_id) {
      id
      assignee_id
    }
  }
`);

export const MergeContacts = graphql(
  `
    mutation ContactsMerge($into_id: BigInt!, $from_id: BigInt!, $preview_id: String!, $take: [String!]) {
      merge_contacts(into_id: $into_id, from_id: $from_id, preview_id: $preview_id, take: $take) {
        id
        ...ContactRow
      }
    }
  `,
  [ContactRow],
);

export const DeleteContact = graphql(`
  mutation ContactsDelete($id: BigInt!) {
    delete_contact(id: $id) {
      deleted_id
      deleted_messages
    }
  }
`);

export const EvidenceLink = graphql(`
  mutation ContactsEvidence($phone: String!) {
    create_consent_link(phone: $phone) {
      url
    }
  }
`);

export const BulkTag = graphql(`
  mutation ContactsBulkTag($contacts: ContactSelection!, $add: [String!], $remove: [String!]) {
    bulk_tag(contacts: $contacts, add: $add, remove: $remove) {
      id
    }
  }
`);

export const BulkStage = graphql(`
  mutation ContactsBulkStage($contacts: ContactSelection!, $stage: PipelineStage!) {
    bulk_stage(contacts: $contacts, stage: $stage) {
      id
    }
  }
`);

export const BulkAssign = graphql(`
  mutation ContactsBulkAssign($contacts: ContactSelection!, $assignee_id: BigInt) {
    bulk_assign(contacts: $contacts, assignee_id: $assignee_id) {
      id
    }
  }
`);

export const BulkEnroll = graphql(`
  mutation ContactsBulkEnroll($contacts: ContactSelection!, $sequence_id: BigInt!) {
    bulk_enroll(contacts: $contacts, sequence_id: $sequence_id, consent_attested: true) {
      id
    }
  }
`);

export const BulkDelete = graphql(`
  mutation ContactsBulkDelete($contacts: ContactSelection!) {
    bulk_delete(contacts: $contacts) {
      id
    }
  }
`);

export const CreateUpload = graphql(`
  mutation ContactsUpload($name: String!) {
    create_upload(name: $name) {
      id
    }
  }
`);

export const AddPart = graphql(`
  mutation ContactsUploadPart($upload_id: BigInt!, $number: Int!, $content: String!) {
    add_upload_part(upload_id: $upload_id, number: $number, content: $content) {
      id
    }
  }
`);

export const DeleteUpload = graphql(`
  mutation ContactsDeleteUpload($id: BigInt!) {
    delete_upload(upload_id: $id) {
      id
    }
  }
`);

export const Import = graphql(`
  mutation ContactsImport(
    $upload_id: BigInt!
    $format: FileFormat
    $existing: Existing!
    $tags: [String!]
    $consent: String!
    $dry_run: Boolean!
  ) {
    import_contacts(
      upload_id: $upload_id
      format: $format
      existing: $existing
      tags: $tags
      consent: $consent
      dry_run: $dry_run
    ) {
      id
    }
  }
`);

export const CancelJob = graphql(`
  mutation ContactsCancelJob($id: BigInt!) {
    cancel_job(id: $id) {
      id
      status
    }
  }
`);

export const JobLink = graphql(`
  mutation ContactsJobLink($id: BigInt!) {
    create_job_link(id: $id) {
      url
      row_count
    }
  }
`);

export const Export = graphql(`
  mutation ContactsExport($filter: ContactFilter, $segment: BigInt) {
    export_contacts(filter: $filter, segment_id: $segment, format: csv) {
      id
    }
  }
`);

export const RenameTag = graphql(`
  mutation ContactsRenameTag($tag: String!, $name: String!) {
    rename_tag(tag: $tag, name: $name) {
      id
    }
  }
`);
