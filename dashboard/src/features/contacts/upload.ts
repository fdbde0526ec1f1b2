// Uploading a file in parts: each part may be sent again.

import type { Client } from 'urql';
import { type Refusal, refusalOf } from '../../graphql/index.ts';
import { AddPart, CreateUpload, DeleteUpload } from './mutations.ts';

const UNWANTED: Refusal = { code: 'canceled', text: 'The upload was ended.' };
const PART = 384 * 1024;

/**
 * Upload a file; return its id, or why it was refused. It ends where `goesOn`, which is told the share, returns false.
 * A file that did not arrive whole is deleted.
 */
export async function upload(
  client: Client,
  file: File,
  goesOn: (share: number) => boolean,
): Promise<number | Refusal> {
  const { data, error } = await client.mutation(CreateUpload, { name: file.name });
  if (!data) return error ? refusalOf(error) : { code: 'internal_error', text: 'The upload did not begin.' };
  const upload_id = data.create_upload.id;
  for (let number = 0; number * PART < file.size || number === 0; number += 1) {
    const bytes = new Uint8Array(await file.slice(number * PART, (number + 1) * PART).arrayBuffer());
    const sent = await client.mutation(AddPart, { upload_id, number, content: base64(bytes) });
    const isWanted = goesOn(Math.min(1, ((number + 1) * PART) / file.size));
    if (sent.error || !isWanted) {
      void client.mutation(DeleteUpload, { id: upload_id }).toPromise();
      return sent.error ? refusalOf(sent.error) : UNWANTED;
    }
  }
  return upload_id;
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
