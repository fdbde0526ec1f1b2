// The keys of the list of contacts: arrows go through its rows, `x` chooses a contact, Shift with an arrow several.

import type { KeyboardEvent } from 'react';
import { singleKeys } from '../../shell/keys.ts';

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
/** The number of the first contact's row: the row of the titles has number 1. */
const FIRST = 2;

interface Acts {
  /** Choose the contacts of some rows, or take the choice of a single one back. */
  onChoose: (indexes: number[], isToggled: boolean) => void;
  /** Bring a row into view. */
  onShow: (index: number) => void;
}

/** Carry out a key that is pressed in the grid. */
export function onGridKey(event: KeyboardEvent<HTMLElement>, count: number, { onChoose, onShow }: Acts): void {
  const { target, currentTarget, key, ctrlKey, metaKey, altKey, shiftKey } = event;
  const row = target instanceof Element ? target.closest('[role=row]') : null;
  if (!row || ctrlKey || metaKey || altKey) return;
  const index = Number(row.ariaRowIndex) - FIRST;
  if (key === 'x' && index >= 0 && singleKeys.get()) onChoose([index], true);
  const next = index + (STEPS[key] ?? 0);
  if (next === index) return;
  event.preventDefault();
  if (next < 0 || next >= count) return;
  if (shiftKey) onChoose([Math.max(index, 0), next], false);
  onShow(next);
  currentTarget.querySelector<HTMLElement>(`[aria-rowindex="${next + FIRST}"] a`)?.focus();
}
