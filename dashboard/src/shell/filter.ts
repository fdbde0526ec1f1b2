// A filter in the address: its page knows the values, and takes an unknown one for none.

/** Return a filter as the address has it. */
export function filterIn(given: unknown): string | undefined {
  return given === undefined ? undefined : String(given);
}
