import { adminOnly, type Examples } from '../../example.ts';

export const examples: Examples = {
  'ledger.seals.list': { callers: adminOnly },
  'ledger.seals.verify': { callers: adminOnly, query: () => ({ since: '2026-03-01' }) },
};
