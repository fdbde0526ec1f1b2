// A toast that says what was done and takes it back, for acts that are carried out without a question.

import { Button, Group } from '@mantine/core';

const SHOWN_MS = 8_000;

/** Show the toast, unless its code cannot be loaded: the act itself was done. */
export async function offerUndo(message: string, undo: () => void): Promise<void> {
  const loaded = await import('@mantine/notifications').catch(() => undefined);
  if (!loaded) return;
  const { notifications } = loaded;
  const id = notifications.show({
    autoClose: SHOWN_MS,
    closeButtonProps: { 'aria-label': 'Close' },
    message: (
      <Group justify="space-between" wrap="nowrap">
        {message}
        <Button
          size="compact-xs"
          variant="default"
          flex="none"
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  });
}
