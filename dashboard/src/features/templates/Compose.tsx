// The dialog in which an AI writes a text; its form is loaded when it is opened.

import { Button } from '@mantine/core';
import { Suspense, useState } from 'react';
import { useMay } from '../../graphql/index.ts';
import { FormDialog, part, Skeleton } from '../../ui/index.ts';

const ComposeForm = part(async () => (await import('./ComposeForm.tsx')).ComposeForm);

interface ComposeProps {
  body: string;
  onChoose: (body: string) => void;
}

/** The button that opens the dialog, and after a choice the one that brings the replaced text back. */
export function Compose({ body, onChoose }: ComposeProps) {
  const [isOpen, setOpen] = useState(false);
  const [swap, setSwap] = useState<{ chosen: string; replaced: string }>();
  const choose = (chosen: string) => {
    setSwap({ chosen, replaced: body });
    setOpen(false);
    onChoose(chosen);
  };
  if (!useMay('ai:use')) return null;
  return (
    <>
      {swap?.chosen === body && swap.replaced.trim() && (
        <Button size="xs" variant="subtle" onClick={() => onChoose(swap.replaced)}>
          Restore my text
        </Button>
      )}
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        Write with AI
      </Button>
      <FormDialog isOpen={isOpen} onClose={() => setOpen(false)} title="Write with AI" size="lg">
        <Suspense fallback={<Skeleton rows={5} />}>
          <ComposeForm onChoose={choose} />
        </Suspense>
      </FormDialog>
    </>
  );
}
