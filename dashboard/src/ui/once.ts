// Acts that cost something, and are meant once by a double click.

import type { MouseEvent } from 'react';

/** Have a button do nothing at the second click of a double click, nor send its form. */
export function onceOf(act?: () => void) {
  return (event: MouseEvent): void => {
    if (event.detail > 1) event.preventDefault();
    else act?.();
  };
}
