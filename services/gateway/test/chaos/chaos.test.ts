import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { analytics } from '@sluice/proto-stubs';
import { createRpcClient, type RpcClient } from '@sluice/rpc';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Scenario, startScenario } from '../scenario.ts';
import { isFull, tell } from './form.ts';
import { Load } from './load.ts';
import { type LedgerContent, readLedger } from './read-ledger.ts';

/**
 * Every part dies in turn under load, and disks lose what they held. The
 * provider is the witness: what it was asked is in the ledger, each call once,
 * or the ledger says itself that it is missing.
 */

const requests = isFull ? 50_000 : 5_000;
const phases = 8;
const share = Math.ceil(requests / phases);
/** How long a store is away. */
const awayMs = isFull ? 30_000 : 3_000;
const graceMs = 5_000;
/** Each insert costs the embedded engine as much as twenty requests do a gateway. */
const insertIntervalMs = isFull ? 200 : 1000;

describe('under load', () => {
  let scenario: Scenario;
  let load: Load;
  let ledger: RpcClient;
  const startedAtMs = Date.now() - 1000;
  /** From when on entries are read, and how many names were sent until then: a read of all takes seconds of CPU. */
  let since = { ms: startedAtMs, names: 0 };

  beforeAll(async () => {
    scenario = await startScenario({
      promptLedger: true,
      processes: true,
      gateways: 3,
      nats: true,
      redis: true,
      environment: {
        'data-service': {
          GAP_GRACE: String(graceMs),
          INSERT_INTERVAL: String(insertIntervalMs),
        },
      },
    });
    load = new Load(scenario);
    ledger = createRpcClient(analytics.LogService, {
      address: `127.0.0.1:${scenario.stack.ports.dataServiceGrpc}`,
      token: scenario.stack.serviceToken,
    });
  });
  afterAll(async () => {
    ledger.close();
    await scenario.stop();
  });

  const read = () => readLedger(ledger, scenario.stack.credentials.organisation_id, since.ms);

  /** Sends a share of the load, and meanwhile lets the fault happen. */
  const during = async (fault: () => Promise<unknown>) => {
    await Promise.all([load.send(share), delay(200).then(fault)]);
  };

  /** Of what was asked and has no row, how many calls; of what has too many, their names. */
  const compare = ({ attempts }: LedgerContent) => {
    const missing = new Map<string, number>();
    const doubled: string[] = [];
    for (const name of [...load.gateways.keys()].slice(since.names)) {
      const calls = load.calls.get(name) ?? 0;
      const rows = attempts.get(name) ?? 0;
      if (rows < calls) missing.set(name, calls - rows);
      // An attempt that died with its gateway may have died before its call.
      if (rows > calls + (load.statuses.get(name) === 0 ? 1 : 0)) doubled.push(name);
    }
    return { missing, doubled };
  };

  /** Waits until the ledger has all that was asked but so many calls. */
  const holdsAllBut = async (lost: number): Promise<LedgerContent> => {
    let content: LedgerContent | undefined;
    await eventually(
      async () => {
        content = await read();
        const { missing, doubled } = compare(content);
        expect(doubled).toEqual([]);
        const count = [...missing.values()].reduce((sum, each) => sum + each, 0);
        if (count > lost) throw new Error(`${count} calls are missing, and ${lost} may be`);
      },
      { intervalMs: 1000 },
    );
    if (content === undefined) throw new Error('the ledger was not read');
    return content;
  };

  const gapsOf = async () => {
    const { data } = await scenario.admin<{ data: { replica_id: string; missing: number }[] }>(
      'GET',
      '/ledger/gaps?page_size=1000',
    );
    return data;
  };
  const missingIn = (gaps: readonly { missing: number }[]) =>
    gaps.reduce((sum, { missing }) => sum + missing, 0);

  const outboxOf = (gateway: string) => join(scenario.stack.dataDir, gateway, 'outbox');

  it('every part dies and comes back, and each call is in the ledger once', {
    timeout: isFull ? 1_800_000 : 600_000,
  }, async () => {
    const { stack } = scenario;
    const killed = async (name: Parameters<typeof stack.part>[0], ms: number) => {
      await stack.part(name).kill();
      await delay(ms);
      await stack.part(name).start();
    };
    await during(async () => {});
    await during(() => killed('gateway-2', 500));
    await during(() => killed('data-service', awayMs));
    await during(() => killed('control-plane', 500));
    await during(async () => {
      await stack.redis?.kill();
      await delay(500);
      await stack.redis?.restart();
    });
    await during(async () => {
      await stack.nats?.kill();
      await delay(awayMs);
      await stack.nats?.restart();
    });

    // Whoever asked a gateway that lived got an answer, whatever else was down.
    const unanswered = [...load.statuses].filter(([, status]) => status !== 200);
    expect(
      unanswered.filter(([name, status]) => status !== 0 || load.gateways.get(name) !== 1),
    ).toEqual([]);
    const content = await holdsAllBut(0);
    const { admin } = scenario;
    const range = new URLSearchParams({
      time_of_generation_min: new Date(startedAtMs).toISOString(),
      time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
    });
    const totalOf = async (figure: string) =>
      (await admin<{ summary: { total: number } }>('GET', `/analytics/graphs/${figure}?${range}`))
        .summary.total;
    expect(await totalOf('requests')).toBe(content.entries);
    expect(await totalOf('tokens')).toBe(Number(content.tokens));
    expect(await totalOf('cost')).toBeCloseTo(Number(content.costNanoUsd) / 1e7, 6);
    await delay(graceMs + 12_000);
    expect(await gapsOf()).toEqual([]);
    tell(
      `requests ${load.gateways.size}, calls ${[...load.calls.values()].reduce((sum, each) => sum + each, 0)}, entries ${content.entries}`,
      `attempts that died with their gateway ${[...load.statuses.values()].filter((status) => status === 0).length} at most, missing 0, twice 0, gaps 0`,
    );
  });

  it('what a damaged outbox and a lost folder take with them is what the ledger says is missing', {
    timeout: isFull ? 600_000 : 600_000,
  }, async () => {
    const { stack } = scenario;
    const fromNow = () => {
      since = { ms: Date.now(), names: load.gateways.size };
    };
    // A go that failed has lost what it was to lose.
    onTestFinished(fromNow);
    expect([...compare(await read()).missing]).toEqual([]);
    fromNow();
    const toldBefore = missingIn(await gapsOf());

    // Unsent records are on the disk of a gateway that is killed: 4 KiB of them become zeros, and one byte changes.
    await stack.nats?.kill();
    await load.send(share);
    await stack.part('gateway-3').kill();
    const folder = outboxOf('gateway-3');
    const damagedBefore = (await readdir(join(folder, 'damaged')).catch(() => [])).length;
    const segments = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort();
    const segment = join(folder, segments.at(-1) ?? '');
    const bytes = await readFile(segment);
    expect(bytes.length).toBeGreaterThan(64 * 1024);
    bytes.fill(0, bytes.length - 40_000, bytes.length - 40_000 + 4096);
    const place = bytes.length - 20_000;
    bytes[place] = (bytes[place] ?? 0) ^ 0xff;
    await writeFile(segment, bytes);
    await stack.part('gateway-3').start();
    await stack.nats?.restart();
    await eventually(async () => {
      const damaged = await readdir(join(folder, 'damaged'));
      expect(damaged.length).toBe(damagedBefore + 1);
    });
    // Of 4 KiB of entries only some are lost: of the others the begin stands elsewhere.
    const content = await holdsAllBut(20);
    await delay(graceMs + 12_000);
    const lost = [...compare(await read()).missing];
    expect(lost.every(([name]) => load.gateways.get(name) === 2)).toBe(true);
    const told = missingIn(await gapsOf()) - toldBefore;
    expect(told).toBe(lost.reduce((sum, [, count]) => sum + count, 0));
    expect(content.entries).toBeGreaterThan(share / 2);
    tell(`calls lost with 4 KiB of an outbox: ${told}, all told as gaps`);

    // A gateway is lost with its disk while it sends: what it had told of and not sent is named, and nothing else.
    await Promise.all([
      load.send(share),
      delay(500).then(async () => {
        await stack.part('gateway-2').kill();
        await rm(join(stack.dataDir, 'gateway-2'), { recursive: true, force: true });
        await stack.part('gateway-2').start();
      }),
    ]);
    await delay(graceMs + 12_000);
    // Once more all of it: nothing went that was there, and nothing came twice.
    since = { ms: startedAtMs, names: 0 };
    const lostWithDisk = [...compare(await read()).missing].filter(
      ([name]) => load.gateways.get(name) === 1,
    );
    // What was made within the publisher's linger, and what was under way.
    expect(lostWithDisk.length).toBeLessThanOrEqual(100);
    const toldOfDisk = missingIn(await gapsOf()) - toldBefore - told;
    expect(toldOfDisk).toBeGreaterThanOrEqual(0);
    expect(toldOfDisk).toBeLessThanOrEqual(lostWithDisk.length + 20);
    tell(`calls lost with a disk: ${lostWithDisk.length}, told as gaps: ${toldOfDisk}`);
  });
});
