import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { analytics } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import { eventually } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { errorOf, type Scenario, startScenario } from '../scenario.ts';
import { isFull, tell } from './form.ts';
import { Load } from './load.ts';
import { readLedger } from './read-ledger.ts';

/** While the ledger is away the outbox fills: requests are refused then, loudly, and none is made that cannot be recorded. */
async function fillsUp(scenario: Scenario, requests: number): Promise<void> {
  const { stack } = scenario;
  const load = new Load(scenario);
  const startedAtMs = Date.now() - 1000;
  const ledger = createRpcClient(analytics.LogService, {
    address: `127.0.0.1:${stack.ports.dataServiceGrpc}`,
    token: stack.serviceToken,
  });
  const recorded = async () =>
    (await readLedger(ledger, stack.credentials.organisation_id, startedAtMs)).attempts;
  try {
    await load.send(50);
    await stack.nats?.kill();
    await load.send(requests);
    const refused = [...load.statuses].filter(([, status]) => status === 503);
    expect(refused.length).toBeGreaterThan(50);
    const called = refused.filter(([name]) => load.calls.has(name));
    // An attempt whose record was begun may be asked again, and refused then.
    expect(called.length).toBeLessThanOrEqual(20);
    const answer = await scenario.chat();
    expect([answer.status, (await errorOf(answer)).code]).toEqual([503, 'gateway.ledger_full']);
    await stack.nats?.restart();
    await eventually(
      async () => {
        const attempts = await recorded();
        const missing = [...load.calls].filter(([name, calls]) => attempts.get(name) !== calls);
        const shown = missing.map(
          ([name, calls]) =>
            `${name} (${load.statuses.get(name)}): ${calls} calls, ${attempts.get(name) ?? 0} rows`,
        );
        expect(shown).toEqual([]);
      },
      { intervalMs: 1000 },
    );
    tell(`refused while the outbox was full: ${refused.length} of ${requests}`);
    // Room again: so are answers.
    await eventually(async () => expect((await scenario.chat()).status).toBe(200));
  } finally {
    ledger.close();
  }
}

describe('a full outbox', () => {
  it('refuses, and loses nothing', async () => {
    const scenario = await startScenario({
      promptLedger: true,
      processes: ['gateway'],
      nats: true,
      environment: { gateway: { OUTBOX_BYTES_MAX: String(1024 * 1024) } },
    });
    try {
      await fillsUp(scenario, 2000);
    } finally {
      await scenario.stop();
    }
  });

  // Mounting takes root: `npm run chaos` does it where it may.
  if (isFull && process.getuid?.() === 0)
    it('refuses on a disk that is full, and loses nothing', async () => {
      const scenario = await startScenario({
        processes: ['gateway'],
        promptLedger: true,
        nats: true,
      });
      const { stack } = scenario;
      const folder = join(stack.dataDir, 'gateway', 'outbox');
      try {
        await stack.part('gateway').stop();
        await mkdir(folder, { recursive: true });
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
        await stack.part('gateway').start();
        await fillsUp(scenario, 3000);
      } finally {
        await scenario.stop();
        execFileSync('umount', [folder]);
      }
    });
});
