// Whether a form has changes that are not saved.

import { useState } from 'react';

interface Edits {
  isChanged: boolean;
  /** Whether everything that is shown was saved here. */
  isSaved: boolean;
  /** Note a change. */
  edit(): void;
  /** Save; what is changed before the answer comes stays unsaved. Return whether the service accepted it. */
  save(act: () => Promise<unknown>): Promise<boolean>;
}

/** Count the changes of a form, and those that were saved: an act that is refused returns undefined. */
export function useEdits(): Edits {
  const [made, setMade] = useState(0);
  const [saved, setSaved] = useState<number>();
  return {
    isChanged: made !== (saved ?? 0),
    isSaved: made === saved,
    edit: () => setMade((old) => old + 1),
    async save(act) {
      const isAccepted = (await act()) !== undefined;
      if (isAccepted) setSaved(made);
      return isAccepted;
    },
  };
}
