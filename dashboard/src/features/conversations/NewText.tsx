// The button for a text to a phone that there may be no conversation with yet.

import { Button } from '@mantine/core';
import { useMay } from '../../graphql/index.ts';
import { Later } from '../../shell/Later.tsx';
import { dialog, Icon, useNewDialog } from '../../ui/index.ts';
import type { View } from './views.ts';

const NewTextDialog = dialog(async () => (await import('./NewTextDialog.tsx')).NewTextDialog);

export function NewText({ view }: { view: View }) {
  const [isOpen, setOpen] = useNewDialog();
  if (!useMay('messages:send')) return null;
  return (
    <>
      <Button size="xs" leftSection={<Icon name="plus" size={16} />} onClick={() => setOpen(true)}>
        New text
      </Button>
      <Later isWanted={isOpen}>
        <NewTextDialog isOpen={isOpen} onClose={() => setOpen(false)} view={view} />
      </Later>
    </>
  );
}
