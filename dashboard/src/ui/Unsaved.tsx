// What is typed and not saved stays until the person says that it may go.

import { Button, Group, Modal } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';

export function Unsaved({ isChanged }: { isChanged: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
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
