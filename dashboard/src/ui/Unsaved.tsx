// What is typed and not saved stays until the person says that it may go.

import { Button, Group, Modal } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';

interface UnsavedProps {
  isChanged: boolean;
  /** Save before the page is left; it is left without a question if everything is saved. */
  save?: () => Promise<boolean>;
}

export function Unsaved({ isChanged, save }: UnsavedProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: async ({ current, next }) => isChanged && current.pathname !== next.pathname && !(await save?.()),
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  });
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title="Leave without saving?">
      <p>What you changed on this page is not saved yet.</p>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={() => reset?.()} data-autofocus>
          Stay here
        </Button>
        <Button color="#b42318" onClick={() => proceed?.()}>
          Leave without saving
        </Button>
      </Group>
    </Modal>
  );
}
