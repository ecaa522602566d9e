import { eventually, inTurns, temporaryFolder } from '@sluice/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningService, runService } from './running-service.ts';
import { encodedRecord } from './usage-records.ts';

const running: RunningService[] = [];

async function start(env: Record<string, string> = {}, dataDir?: string): Promise<RunningService> {
  const service = await runService(env, dataDir);
  running.push(service);
  return service;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.kill()));
});

describe('WriteUsage', () => {
  it('has stored what it acknowledged, so that kill -9 loses nothing and leaves no lock', async () => {
    const service = await start();
    const records = Array.from({ length: 40 }, () => encodedRecord());
    await Promise.all(records.map((record) => service.write([record])));
    await service.kill();
    const again = await start({}, service.dataDir);
    expect(await again.count()).toBe(40);
  });

  it('counts each record once while callers repeat themselves and the process is killed over and over', async () => {
    const records = Array.from({ length: 1000 }, () => encodedRecord());
    const dataDir = await temporaryFolder('killed');
    const unacknowledged = new Set(records);
    // Each life ends at another moment of the batcher's cycle: waiting, inserting (`npm run test:long`), answering.
    for (const lifeMs of inTurns([150, 230, 330], 2)) {
      const service = await start({}, dataDir);
      const sending = [...unacknowledged].map((record) =>
        service.write([record], 2000).then(
          () => unacknowledged.delete(record),
          () => {},
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, lifeMs));
      await service.kill();
      await Promise.all(sending);
    }
    const last = await start({}, dataDir);
    const stored = records.length - unacknowledged.size;
    expect(await last.count()).toBeGreaterThanOrEqual(stored);
    await last.write(records);
    expect(await last.count()).toBe(1000);
  });

  it('refuses callers without the token', async () => {
    const service = await start({ SERVICE_CLIENT_AUTH: 'another-token-than-ours' });
    await expect(service.write([encodedRecord()])).rejects.toMatchObject({ code: 16 });
    await expect(service.count()).rejects.toMatchObject({ code: 16 });
  });

  it('shows a record in analytics within a second', async () => {
    const service = await start();
    const tookMs: number[] = [];
    // What else a machine does may come between, not each time.
    while (tookMs.length < 5 && !tookMs.some((ms) => ms < 1000)) {
      const sentAtMs = performance.now();
      await service.write([encodedRecord()]);
      expect(await service.count()).toBe(tookMs.length + 1);
      tookMs.push(performance.now() - sentAtMs);
    }
    expect(Math.min(...tookMs)).toBeLessThan(1000);
  });
});

describe('the process', () => {
  it('stores what is under way when asked to stop, answers it, and ends with code 0', async () => {
    const service = await start();
    const sent = Array.from({ length: 100 }, () => service.write([encodedRecord()]));
    // All have come, however slowly: those of before may be stored by then.
    await eventually(async () => (await arrived(service)) === 100, { intervalMs: 5 });
    const [exit] = await Promise.all([service.stop(), ...sent]);
    expect(exit.code).toBe(0);
    const again = await start({}, service.dataDir);
    expect(await again.count()).toBe(100);
  });

  it('waits for a predecessor on the same data that is still stopping', async () => {
    const first = await start();
    await first.write([encodedRecord()]);
    const second = start({}, first.dataDir);
    await eventually(() => first.stop().then(() => true));
    expect(await (await second).count()).toBe(1);
  });

  it('answers health checks and shows its metrics', async () => {
    const service = await start();
    for (const path of ['/health', '/health/live', '/health/ready'])
      expect((await fetch(service.httpUrl + path)).status).toBe(200);
    expect((await fetch(`${service.httpUrl}/nothing`)).status).toBe(404);
    await service.write([encodedRecord(), encodedRecord(), Buffer.from('garbage')]);
    const text = await (await fetch(`${service.httpUrl}/metrics`)).text();
    expect(text).toMatch(/usage_rows_stored_total\{table="usage_records",.*\} 2/);
    expect(text).toMatch(/usage_rows_stored_total\{table="usage_rejects",.*\} 1/);
    expect(text).toContain('node_process_resident_memory_bytes');
  });

  it('does not start with settings that are not valid, and names them all', async () => {
    const failed = runService({ SERVICE_CLIENT_AUTH: 'short', PORT: 'http' });
    await expect(failed).rejects.toThrow(/PORT must.*SERVICE_CLIENT_AUTH must/s);
  });
});

/** Rows that wait, are being written or are stored. */
async function arrived(service: RunningService): Promise<number> {
  const text = await (await fetch(`${service.httpUrl}/metrics`)).text();
  const found = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
  return (
    found(/^usage_queued_rows\{.*\} (.+)$/m) +
    found(/^usage_rows_stored_total\{table="usage_records".*\} (.+)$/m)
  );
}
