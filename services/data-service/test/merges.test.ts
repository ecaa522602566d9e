import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ledger, openLedger } from './embedded-ledger.ts';

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger?.close());

const command = (query: string) => ledger.client.command({ query });

it('merges records column by column, however few they are', async () => {
  // As parts of more than 10 MiB are: a file for each column.
  await command('ALTER TABLE usage_records MODIFY SETTING min_bytes_for_wide_part = 0');
  for (const outcome of ['success', 'failed'])
    await command(
      `INSERT INTO usage_records (id, created_at, outcome) SELECT generateUUIDv4(number), now64(3), '${outcome}' FROM numbers(10)`,
    );
  await command('OPTIMIZE TABLE usage_records FINAL');
  const [{ value } = { value: 0 }] = await ledger.rows<{ value: number }>(
    "SELECT value FROM system.events WHERE event = 'GatheredColumns'",
  );
  expect(value).toBeGreaterThan(100);
});
