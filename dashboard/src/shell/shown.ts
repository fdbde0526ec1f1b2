// The dialogs of the shell that a key or a button shows.

import { useMounted } from '@mantine/hooks';
import { createStore } from '../graphql/index.ts';

export const showPalette = createStore(false);
export const showKeys = createStore(false);
export const showSignOut = createStore(false);

export interface ShownProps {
  isOpen: boolean;
  onClose: () => void;
}

/** Tell whether a dialog is shown, not before it is mounted: it returns the focus if it opens after that. */
export function useShown(isOpen: boolean): boolean {
  const isMounted = useMounted();
  return isOpen && isMounted;
}
