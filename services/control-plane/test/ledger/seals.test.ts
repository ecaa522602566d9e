import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ analytics: {} });
});
afterAll(() => h.stop());

it('GET /ledger/verify names what does not fit, and what came late', async () => {
  const { body } = await h.as(h.first.admin_key).get('/ledger/verify').expect(200);
  expect(body).toEqual({
    object: 'ledger-verification',
    organisation_id: h.first.organisation_id,
    valid: false,
    entries: 2,
    sealed_to: '2026-03-10',
    last_sequence: 2,
    head_hash: 'c'.repeat(64),
    kept_from: '2026-02-01',
    faults: [
      {
        reason: 'altered',
        day: '2026-03-10',
        workspace_id: 'ws-1',
        table: 'usage_records',
        records_day: '2026-03-10',
        hour: 7,
        rows: 0,
        record_id: '0199c3a0-1234-7abc-8def-0123456789ab',
      },
      { reason: 'seal-missing', day: '2026-03-10', workspace_id: '', sequence: 3 },
    ],
    late: [{ workspace_id: 'ws-1', records_day: '2026-03-09', records: 1, adjustments: 0 }],
  });
  const other = await h.as(h.other.admin_key).get('/ledger/verify').expect(200);
  expect(other.body).toMatchObject({ valid: true, sealed_to: null, last_sequence: null });
});

it('GET /ledger/seals shows sealed totals, in cents', async () => {
  const { body } = await h.as(h.first.admin_key).get('/ledger/seals').expect(200);
  expect(body.data).toMatchObject([
    { kind: 'part', workspace_id: 'ws-1', records: 2, cost: 9, adjustments: 1, adjusted_cost: -1 },
  ]);
});
