// Keys that lead to pages, and the dialogs that open over every page.

import { useNavigate } from '@tanstack/react-router';
import { useStore } from '../graphql/index.ts';
import { dialog } from '../ui/index.ts';
import { useCommandKey, useKeys, useLedKey } from './keys.ts';
import { Later } from './Later.tsx';
import { PLACES } from './navigation.ts';
import { showKeys, showPalette, showSignOut } from './shown.ts';

const KeysHelp = dialog(async () => (await import('./KeysHelp.tsx')).KeysHelp);
const Palette = dialog(async () => (await import('./Palette.tsx')).Palette);
const SignOut = dialog(async () => (await import('./SignOut.tsx')).SignOut);

export function Shortcuts() {
  const navigate = useNavigate();
  const keys = useStore(showKeys);
  const palette = useStore(showPalette);
  const leaving = useStore(showSignOut);
  useCommandKey('k', () => showPalette.set(true));
  useKeys((key, event) => {
    if (key === '?') showKeys.set(true);
    if (key === '/') focusSearch(event);
  });
  useLedKey((key) => {
    const place = PLACES.find((entry) => entry.key === key);
    if (place) void navigate({ to: place.to });
  });
  return (
    <>
      <Later isWanted={keys}>
        <KeysHelp isOpen={keys} onClose={() => showKeys.set(false)} />
      </Later>
      <Later isWanted={palette}>
        <Palette isOpen={palette} onClose={() => showPalette.set(false)} />
      </Later>
      <Later isWanted={leaving}>
        <SignOut isOpen={leaving} onClose={() => showSignOut.set(false)} />
      </Later>
    </>
  );
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('input[type=search]');
  if (field) event.preventDefault();
  field?.focus();
}
