// The grouping of the spending and the filters of the ledger in the address: an unknown value becomes the default.

export const GROUPS = ['day', 'week', 'month'] as const;
export const TYPES = ['debit', 'refund', 'purchase', 'adjustment', 'reversal', 'dispute'] as const;

export interface SpendSearch {
  by?: (typeof GROUPS)[number];
}

export interface LedgerSearch {
  type?: (typeof TYPES)[number];
  /** The first and the last day, as 2026-11-24, in the zone of the viewer. */
  from?: string;
  to?: string;
  campaign?: number;
}

export function validatedSpend({ by }: Record<string, unknown>): SpendSearch {
  return { by: GROUPS.find((each) => each === by) };
}

export function validatedLedger({ type, from, to, campaign }: Record<string, unknown>): LedgerSearch {
  return {
    type: TYPES.find((each) => each === type),
    from: dayOf(from),
    to: dayOf(to),
    campaign: Number.parseInt(String(campaign), 10) || undefined,
  };
}

function dayOf(given: unknown): string | undefined {
  const text = String(given ?? '');
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}
