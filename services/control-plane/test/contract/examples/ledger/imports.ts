import { adminOnly, type Examples } from '../../example.ts';

export const examples: Examples = {
  'ledger.imports.create': {
    callers: adminOnly,
    body: () => ({
      provider: 'anthropic',
      data: 'usage_date_utc,model,cost_usd\n2026-08-05,Claude Opus 5,1.25\n',
    }),
  },
};
