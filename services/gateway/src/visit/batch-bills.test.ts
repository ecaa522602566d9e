import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { BillClaims } from '../owners/bill-claims.ts';
import { Outbox } from '../usage/outbox.ts';
import { UsageRecorder } from '../usage/usage-recorder.ts';
import { BatchBills } from './batch-bills.ts';
import type { TargetVisit } from './target-visit.ts';

const dir = mkdtempSync(join(tmpdir(), 'sluice-batch-bills-'));
afterAll(() => rmSync(dir, { recursive: true }));

it('a batch that ends where nothing can be recorded is left to who reads it next, before limits count it, and says that its lines cannot be read', async () => {
  const outbox = new Outbox({ dir, bytesMax: 1024 * 1024 });
  let isFull = true;
  Object.defineProperty(outbox, 'isFull', { get: () => isFull });
  const said: unknown[][] = [];
  const bills = new BatchBills(
    {
      logger: { warn: (...line: unknown[]) => void said.push(line) },
      claims: new BillClaims(undefined),
      recorder: new UsageRecorder(outbox, { replicaId: 'one', gatewayVersion: '1' }),
      price: () => undefined,
      bill: () => ({ facts: {}, isEstimated: false, isImplausible: false }),
    },
    { count: async () => {} },
  );
  const nowMs = Date.now();
  const visit = {
    exchange: {
      arrival: { startedAtMs: nowMs },
      key: { source: { organisationId: 'org', workspaceId: 'ws' } },
    },
    prepared: { origin: 'https://api.example.com' },
  } as unknown as TargetVisit;
  const fault = new Error('the connection broke');
  const batch = {
    id: 'batch_1',
    createdAtMs: nowMs - 60_000,
    modelOf: async (onUnread: (error: unknown) => void) => {
      onUnread(fault);
      return 'gpt-4o-mini';
    },
  };

  const bill = await bills.open(visit, batch);
  expect(said).toMatchObject([[{ err: fault, batch: 'batch_1' }, expect.any(String)]]);
  await expect(bill?.end()).rejects.toMatchObject({ code: 'gateway.ledger_full' });

  isFull = false;
  const again = await bills.open(visit, batch);
  expect(again).toBeDefined();
  await again?.end();
  expect(await bills.open(visit, batch)).toBeUndefined();
});
