// A part of a page whose code is loaded after that of the page.

import { Modal } from '@mantine/core';
import { type ComponentType, lazy } from 'react';
import { reload } from './reload.ts';
import { Refused } from './states.tsx';

const whenIdle = window.requestIdleCallback ?? ((call: () => void) => window.setTimeout(call, 200));
const REFUSAL = { code: 'unloaded', text: 'The code of this part of the page could not be loaded.' };

type Load<Props> = () => Promise<ComponentType<Props>>;

interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
}

/**
 * Return a component whose code is loaded when the page is idle, so that it opens without a connection too. If it could
 * not be loaded, the page around it stays: a browser does not load a module again that it failed to load.
 */
export function part<Props extends object>(load: Load<Props>, Failed: ComponentType<Props> = Unloaded) {
  whenIdle(() => {
    if (navigator.onLine) void load().catch(() => {});
  });
  return shown(load, Failed);
}

/** Return a component whose code is loaded as soon as it is shown; if that fails, another one stands in its place. */
export function shown<Props extends object>(load: Load<Props>, Failed: ComponentType<Props>) {
  return lazy(async () => ({ default: await load().catch(() => Failed) }));
}

/** Return a dialog as `part` does; if its code could not be loaded, a dialog that says so opens in its place. */
export function dialog<Props extends DialogProps>(load: Load<Props>) {
  return part(load, UnloadedDialog);
}

export function Unloaded() {
  return <Refused refusal={REFUSAL} retry={() => void reload()} retryLabel="Load the page again" />;
}

function UnloadedDialog({ isOpen, onClose }: DialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Not loaded">
      <Unloaded />
    </Modal>
  );
}
