// The code of a page, which is loaded when the page is opened.

import { lazyRouteComponent } from '@tanstack/react-router';
import type { ComponentType } from 'react';

const UNLOADED = 'This page is not loaded yet, and the service did not answer. Check the connection, then try again.';

/** Return the component of a route. Without a connection it fails with a sentence, and the window is not reloaded. */
export function page<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  return lazyRouteComponent(async () => {
    try {
      return { default: (await load())[name] };
    } catch (error) {
      throw (await isReachable()) ? error : new Error(UNLOADED);
    }
  });
}

/** Tell whether the service answers. */
export async function isReachable(): Promise<boolean> {
  try {
    await fetch('/app/', { method: 'HEAD', cache: 'no-store' });
    return true;
  } catch {
    return false;
  }
}
