import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';
import { heldReject, replayed } from '../support/held-rejects.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ analytics: {} });
});
beforeEach(() => replayed.splice(0));
afterAll(() => h.stop());

describe('GET /ledger/rejects', () => {
  it('shows what is in a reject to its organisation alone, to who may read logs', async () => {
    const shown = async (key: string) =>
      (await h.as(key).get('/ledger/rejects').expect(200)).body.data.map(
        ({ record }: { record: string | null }) => record,
      );
    const made = await h
      .as(h.first.admin_key)
      .post('/api-keys/organisation/service', { name: 'Figures', scopes: ['analytics.view'] })
      .expect(200);
    const own = Buffer.from(heldReject.record ?? []).toString('base64');
    // The second belongs to nobody that its bytes tell of.
    expect(await shown(h.first.admin_key)).toEqual([own, null]);
    expect(await shown(made.body.key)).toEqual([null, null]);
    expect(await shown(h.other.admin_key)).toEqual([null, null]);
  });
});

describe('POST /ledger/rejects/replay', () => {
  it('asks for all only where it is told so, and writes down what came of it', async () => {
    const admin = h.as(h.first.admin_key);
    for (const body of [{}, { all: true, reason: 'x' }, { all: false }])
      await admin.post('/ledger/rejects/replay', body).expect(400);
    expect(replayed).toEqual([]);
    const answer = await admin.post('/ledger/rejects/replay', { all: true }).expect(200);
    expect(answer.body).toEqual({
      object: 'ledger-reject-replay',
      stored: 2,
      rejected: 1,
      next_cursor: null,
    });
    expect(replayed).toMatchObject([{ ids: [], reason: '', cursor: '' }]);
    const audit = await admin
      .get(
        '/audit-logs?start_time=2020-01-01&end_time=2099-01-01&resource_type=ledger_rejects&response_status_code=200',
      )
      .expect(200);
    expect(audit.body.records[0]).toMatchObject({
      action: 'replay',
      detail: '{"stored":2,"rejected":1}',
    });
  });
});
