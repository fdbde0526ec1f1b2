// A toast about an act that was refused, where its page does not say so.

import type { Refusal } from '../graphql/errors.ts';

const SHOWN_MS = 12_000;

/** Show the toast, unless its code cannot be loaded. */
export async function tellRefusal({ text, requestId }: Refusal): Promise<void> {
  const loaded = await import('@mantine/notifications').catch(() => undefined);
  loaded?.notifications.show({
    color: 'red',
    autoClose: SHOWN_MS,
    closeButtonProps: { 'aria-label': 'Close' },
    title: 'Not done',
    message: requestId ? `${text} Request ${requestId}` : text,
  });
}
