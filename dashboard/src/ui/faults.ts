// What a form shows of a refusal: its text at the field that it names, or else the whole below the fields.

import type { Refusal } from '../graphql/errors.ts';

interface Faults {
  /** Return the text to show at a field. */
  at(field: string): string | undefined;
  /** The refusal, unless one of the fields shows it. */
  elsewhere?: Refusal;
}

/** Return where a form with these fields shows a refusal, whose field can be a path such as `changes.email`. */
export function faultsOf(refusal: Refusal | undefined, fields: readonly string[]): Faults {
  const named = refusal?.field && lastPart(refusal.field);
  const field = fields.find((name) => name === named);
  return {
    at: (name) => (name === field ? refusal?.text : undefined),
    elsewhere: field === undefined ? refusal : undefined,
  };
}

/** Return the last part of a path: `phone` of `contact.phone`, and `custom.size` of `contact.custom.size`. */
function lastPart(path: string): string | undefined {
  return /(?:\bcustom\.)?[^.]*$/.exec(path)?.[0];
}
