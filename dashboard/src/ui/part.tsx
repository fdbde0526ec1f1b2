// A part of a page whose code is loaded after that of the page.

import { type ComponentType, lazy } from 'react';
import { Notice } from './states.tsx';

const whenIdle = window.requestIdleCallback ?? ((call: () => void) => window.setTimeout(call, 200));

function Unloaded() {
  return (
    <Notice kind="bad">
      <span role="alert">
        This part of the page could not be loaded. What you typed is still here: save it, then load the page again.
      </span>
    </Notice>
  );
}

/**
 * Return a component whose code is loaded when the page is idle, so that it opens without a connection too. If it could
 * not be loaded, the page around it stays: a browser does not load a module again that it failed to load.
 */
export function part<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  whenIdle(() => void load().catch(() => {}));
  return lazy(async () => ({ default: await load().catch((): ComponentType<Props> => Unloaded) }));
}
