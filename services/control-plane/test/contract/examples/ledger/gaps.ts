import { adminOnly, type Examples } from '../../example.ts';

export const examples: Examples = {
  'ledger.gaps': {
    callers: adminOnly,
    query: () => ({ heard_since: '2025-01-01T00:00:00Z' }),
  },
};
