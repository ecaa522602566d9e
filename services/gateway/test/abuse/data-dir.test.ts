import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { json, startService } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply, ledgerHolds, type Scenario, startScenario } from '../scenario.ts';

/** Two processes on one folder, as a copied deployment makes them. */

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario({ processes: ['gateway', 'data-service'], promptLedger: true });
});
afterAll(() => scenario.stop());

const gatewayDir = () => join(scenario.stack.dataDir, 'gateway');

/** The outbox as it is on disk. */
function outboxFiles(): string[] {
  const dir = join(gatewayDir(), 'outbox');
  return readdirSync(dir)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .map(
      (name) =>
        `${name} ${createHash('md5')
          .update(readFileSync(join(dir, name)))
          .digest('hex')}`,
    );
}

const key = () => randomBytes(32).toString('hex');

describe('a second process on the same folder', () => {
  it('does not start, says whose it is, and leaves the records of the first alone', async () => {
    scenario.upstream.handle(json(200, chatReply));
    expect((await scenario.chat()).status).toBe(200);
    await ledgerHolds(scenario, 1);
    const before = outboxFiles();
    expect(before.length).toBeGreaterThan(0);
    const holder = (part: 'gateway' | 'data-service') =>
      `is in use by process ${scenario.stack.part(part).pid} on `;
    const gateway = startService('gateway', {
      PORT: '0',
      METRICS_PORT: '0',
      SERVICE_CLIENT_AUTH: key(),
      KEY_PEPPER: key(),
      SNAPSHOT_KEY: key(),
      DATA_DIR: gatewayDir(),
    });
    const clickhouse = join(scenario.stack.dataDir, 'clickhouse');
    const dataService = startService('data-service', {
      PORT: '0',
      GRPC_PORT: '0',
      SERVICE_CLIENT_AUTH: key(),
      CLICKHOUSE_DATA_DIR: clickhouse,
    });
    await Promise.all([
      expect(gateway).rejects.toThrow(`DATA_DIR ${gatewayDir()} ${holder('gateway')}`),
      expect(dataService).rejects.toThrow(
        `CLICKHOUSE_DATA_DIR ${clickhouse} ${holder('data-service')}`,
      ),
    ]);
    expect(outboxFiles()).toEqual(before);
  });

  it('may take the folder when the first was killed', async () => {
    const gateway = scenario.stack.part('gateway');
    await gateway.kill();
    await gateway.start();
    expect((await fetch(`${scenario.stack.gatewayUrls[0]}/health`)).status).toBe(200);
  });
});
