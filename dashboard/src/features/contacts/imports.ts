// What is asked about imports: the uploaded files, the meaning of their columns, and the jobs.

import { graphql } from '../../graphql/index.ts';

export const ImportPreview = graphql(`
  query ContactsImportPreview($upload_id: BigInt!) {
    preview_import(upload_id: $upload_id) {
      encoding
      delimiter
      has_header
      note
      columns {
        index
        name
        samples
        field
      }
    }
  }
`);

export const Uploads = graphql(`
  query ContactsUploads {
    uploads {
      id
      name
      created_at
    }
  }
`);

export const Jobs = graphql(`
  query ContactsJobs {
    jobs(first: 50) {
      nodes {
        id
        kind
        status
        total
        done
        changed
        created_at
        creator {
          kind
          id
          label
        }
      }
    }
  }
`);
