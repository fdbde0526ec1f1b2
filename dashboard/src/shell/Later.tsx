// A part that is loaded when it is wanted first, and stays from then on.

import { type ReactNode, Suspense, useState } from 'react';

export function Later({ isWanted, children }: { isWanted: boolean; children: ReactNode }) {
  const [wasWanted, setWanted] = useState(isWanted);
  if (isWanted && !wasWanted) setWanted(true);
  return wasWanted ? <Suspense>{children}</Suspense> : null;
}
