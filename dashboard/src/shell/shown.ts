// The parts of the shell that a key or a button shows.

import { useMounted } from '@mantine/hooks';
import { createStore, type Store, useStore } from '../graphql/index.ts';

export const showPalette = createStore(false);
export const showKeys = createStore(false);

/** Tell whether a part is shown, not before it is mounted: a dialog returns the focus if it opens after that. */
export function useShown(part: Store<boolean>): boolean {
  const isMounted = useMounted();
  return useStore(part) && isMounted;
}
