import { adminOnly, type Examples } from '../../example.ts';

export const examples: Examples = {
  'ledger.rejects.list': { callers: adminOnly, query: () => ({ reason: 'not a UsageRecord' }) },
  'ledger.rejects.replay': [
    { callers: adminOnly, body: () => ({ ids: ['a'.repeat(64)], cursor: 'b'.repeat(64) }) },
    { callers: adminOnly, body: () => ({ reason: 'not a UsageRecord' }) },
    { callers: adminOnly, body: () => ({ all: true }) },
  ],
};
