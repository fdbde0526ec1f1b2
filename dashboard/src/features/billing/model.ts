// Amounts of money, and what was spent, in words.

import { money, plural } from '../../ui/index.ts';
import type { Spend } from './queries.ts';
import type { SpendSearch } from './search.ts';

interface Priced {
  amount: number;
  decimals: number;
  currency: string;
}

/** Return a price in words. */
export function priceOf({ amount, decimals, currency }: Priced): string {
  return money(amount / 10 ** decimals, currency);
}

export const SPANS: Record<NonNullable<SpendSearch['by']>, { days: number; label: string; during: string }> = {
  day: { days: 30, label: 'By day', during: 'in the last 30 days' },
  week: { days: 182, label: 'By week', during: 'in the last 26 weeks' },
  month: { days: 366, label: 'By month', during: 'in the last 12 months' },
};

/** Return what was spent as a sentence. */
export function spentIn({ by_kind: { spent, points } }: Spend, during: string): string {
  if (spent === 0) return `No credits were spent ${during}.`;
  const of = (kind: string) => points.find((point) => point.kind === kind)?.spent ?? 0;
  const parts = of('ai') ? `: ${plural(of('messages'), 'credit')} on texts, ${plural(of('ai'), 'credit')} on AI` : '';
  return `${plural(spent, 'credit')} were spent ${during}${parts || ', all on texts'}.`;
}
