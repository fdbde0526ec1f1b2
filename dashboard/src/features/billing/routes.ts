import { createRoute } from '@tanstack/react-router';
import { page } from '../../shell/page.ts';
import { root } from '../../shell/root.ts';
import { validatedLedger, validatedSpend } from './search.ts';

const staticData = { scope: 'billing:read' };

const overview = createRoute({
  getParentRoute: () => root,
  path: 'billing',
  staticData,
  validateSearch: validatedSpend,
  component: page(() => import('./BillingPage.tsx'), 'BillingPage'),
});

const ledger = createRoute({
  getParentRoute: () => root,
  path: 'billing/transactions',
  staticData,
  validateSearch: validatedLedger,
  component: page(() => import('./LedgerPage.tsx'), 'LedgerPage'),
});

export const billing = [overview, ledger];
