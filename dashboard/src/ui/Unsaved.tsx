// The question before a page with unsaved changes is left.

import { Button, Group, Modal } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';

interface UnsavedProps {
  isChanged: boolean;
  /** Save before the page is left; it is left without a question if everything is saved. */
  save?: () => Promise<boolean>;
  /** Whether the form stands in a tab, so that another tab of the same page leaves it too. */
  isInTab?: boolean;
}

export function Unsaved({ isChanged, save, isInTab = false }: UnsavedProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: async ({ current, next }) =>
      isChanged && (isInTab || current.pathname !== next.pathname) && !(await save?.()),
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  });
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title="Leave without saving?">
      <p>Your changes on this page are not saved yet.</p>
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
