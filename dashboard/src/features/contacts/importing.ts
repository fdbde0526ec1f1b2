// The choices of an import, kept in this browser until it begins, so that a reload loses none of them.

import { useState } from 'react';

export interface Choices {
  /** The field of each column; empty for one that is left out. */
  fields: string[];
  existing: 'update' | 'keep' | 'skip';
  tags: string[];
  consent: string;
  /** The job of the dry run. */
  trial?: number;
}

function placeOf(uploadId: number): string {
  return `import-${uploadId}`;
}

/** Return the choices for an uploaded file, which begin with the proposed fields, and the way to change them. */
export function useChoices(uploadId: number, proposed: string[]): [Choices, (changes: Partial<Choices>) => void] {
  const place = placeOf(uploadId);
  const [choices, setChoices] = useState<Choices>(() => {
    const kept = JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Choices>;
    return { fields: proposed, existing: 'update', tags: [], consent: '', ...kept };
  });
  const change = (changes: Partial<Choices>) => {
    const next = { ...choices, ...changes };
    setChoices(next);
    localStorage.setItem(place, JSON.stringify(next));
  };
  return [choices, change];
}

export function forgetChoices(uploadId: number): void {
  localStorage.removeItem(placeOf(uploadId));
}
