// A secret on its way from the form that made it to the page that shows it once. It is kept in memory only.

const waiting = new Map<number, string>();

export function handOver(id: number, secret: string): void {
  waiting.set(id, secret);
}

/** Return the secret of an integration that was just made. */
export function secretOf(id: number): string | undefined {
  return waiting.get(id);
}

export function forget(id: number): void {
  waiting.delete(id);
}
