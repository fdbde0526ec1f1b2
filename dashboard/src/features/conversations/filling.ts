// Filling the placeholders of a template in for a contact; loaded when the first one is chosen.

import type { Client } from 'urql';
import { graphql, refusalOf } from '../../graphql/index.ts';

const TemplateFilled = graphql(`
  query ComposerTemplateFilled($body: String!, $contact_id: BigInt!) {
    preview_text(body: $body, contact_id: $contact_id) {
      body
      missing
    }
  }
`);

interface Filled {
  id: number;
  label: string;
}

interface Text {
  body?: string;
  problem?: string;
}

/** Return the text of a template for a contact, without a text where that is refused; `problem` tells what to know. */
export async function fillIn(client: Client, body: string, contact: Filled): Promise<Text> {
  if (!body.includes('{')) return { body };
  const variables = { body, contact_id: contact.id };
  const { data, error } = await client.query(TemplateFilled, variables, { requestPolicy: 'network-only' }).toPromise();
  if (error) return { problem: refusalOf(error).text };
  const { body: filled, missing = [] } = data?.preview_text ?? {};
  if (missing.length === 0) return { body: filled };
  return { body: filled, problem: `Not known of ${contact.label}: ${missing.join(', ')}` };
}
