import { heldRequestId } from '../../../support/held-logs.ts';
import { adminOnly, type Examples } from '../../example.ts';

const about = { record_id: heldRequestId, reason: 'The provider gave something back' };

export const examples: Examples = {
  'ledger.adjustments.create': [
    { callers: adminOnly, body: () => ({ ...about, cost: -1.5, price_version: 'bill-7' }) },
    { callers: adminOnly, body: () => ({ ...about, input_tokens: 100, output_tokens: 7 }) },
  ],
  'ledger.adjustments.list': {
    callers: adminOnly,
    query: () => ({
      record_id: heldRequestId,
      created_from: '2025-01-01T00:00:00Z',
      created_to: '2099-01-01T00:00:00Z',
    }),
  },
};
