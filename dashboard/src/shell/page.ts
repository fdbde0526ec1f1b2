// The code of a page, which is loaded when the page is opened.

import { lazyRouteComponent } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { isReachable } from '../ui/index.ts';

const UNLOADED = 'This page is not loaded yet, and the service did not answer. Check the connection, then try again.';

/** Return the component of a route. Without a connection it fails with a sentence, and the window is not reloaded. */
export function page<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  return lazyRouteComponent(() => content(load, name));
}

/** Load the whole content of a page. Without a connection it fails with a sentence, shown in place of the page. */
export async function content<Name extends string, Component>(
  load: () => Promise<Record<Name, Component>>,
  name: Name,
): Promise<{ default: Component }> {
  try {
    return { default: (await load())[name] };
  } catch (error) {
    throw (await isReachable()) ? error : new Error(UNLOADED);
  }
}
