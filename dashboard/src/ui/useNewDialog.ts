// The dialog for a new record of a page: it is open while the address ends in #new, so that links lead to it.

import { useLocation, useNavigate } from '@tanstack/react-router';

const HASH = 'new';

/** Return whether the dialog is open, and the way to open and close it. */
export function useNewDialog(): [boolean, (isOpen: boolean) => void] {
  const isOpen = useLocation({ select: ({ hash }) => hash === HASH });
  const navigate = useNavigate();
  const setOpen = (open: boolean) =>
    void navigate({ to: '.', search: true, hash: open ? HASH : '', replace: !open, resetScroll: false });
  return [isOpen, setOpen];
}
