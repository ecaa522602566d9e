import { setTimeout as delay } from 'node:timers/promises';
import { inTurns, json, sse } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isFull } from './chaos/form.ts';
import {
  chatBody,
  chatReply,
  ledgerHolds,
  modes,
  type Scenario,
  settledTotal,
  startScenario,
} from './scenario.ts';

/** Sends a request and says whether it was answered. A gateway that is down answers nothing. */
async function answered(target: Scenario): Promise<boolean> {
  try {
    const response = await target.chat();
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** Of the last hour, as analytics tell it; cost in cents. */
async function totalOf(run: Scenario, figure: 'tokens' | 'cost'): Promise<number> {
  const now = Date.now();
  const query = new URLSearchParams({
    time_of_generation_min: new Date(now - 3_600_000).toISOString(),
    time_of_generation_max: new Date(now + 60_000).toISOString(),
  });
  const { summary } = await run.admin<{ summary: { total: number } }>(
    'GET',
    `/analytics/graphs/${figure}?${query}`,
  );
  return summary.total;
}

/** Of each of five parts; more of them in the full form (`npm run chaos`). */
const partOf = isFull ? 200 : 60;

/** With NATS and Redis in `npm run chaos`; in the suite `chaos/chaos.test.ts` kills every part that speaks to them. */
describe.each(inTurns(modes, modes.length))('the ledger, %s', (_mode, options) => {
  let run: Scenario;
  /** Of the tests before. */
  let before: number;
  beforeAll(async () => {
    run = await startScenario({ processes: true, promptLedger: true, ...options });
  });
  afterAll(() => run?.stop());
  beforeEach(async () => {
    run.upstream.handle(json(200, chatReply));
    before = await settledTotal(run);
  });

  it(`holds each of ${5 * partOf} requests exactly once, over kills of every process`, async () => {
    const { stack } = run;
    let sent = 0;
    const send = async (count: number) => {
      for (let index = 0; index < count; index += 10) {
        const outcomes = await Promise.all(Array.from({ length: 10 }, () => answered(run)));
        expect(outcomes).toEqual(outcomes.map(() => true));
        sent += 10;
      }
    };
    await send(partOf);

    // Control plane and data service die: requests go on.
    await Promise.all([stack.part('control-plane').kill(), stack.part('data-service').kill()]);
    await send(partOf);

    // The gateway dies and comes back without them.
    await stack.part('gateway').kill();
    await stack.part('gateway').start();
    await send(partOf);

    // They come back; the data service dies again in the middle of taking records.
    await Promise.all([stack.part('control-plane').start(), stack.part('data-service').start()]);
    const burst = send(partOf);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await stack.part('data-service').kill();
    await burst;
    await stack.part('data-service').start();
    await stack.part('gateway').kill();
    await stack.part('gateway').start();
    await send(partOf);

    expect(sent).toBe(5 * partOf);
    await ledgerHolds(run, before + sent, 60_000);
    expect(await settledTotal(run)).toBe(before + sent);
  });

  it('holds one record for each attempt that died with its gateway', async () => {
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }],
    };
    const [tokens, cost] = [await totalOf(run, 'tokens'), await totalOf(run, 'cost')];
    expect(await answered(run)).toBe(true);
    run.upstream.handle(
      sse(
        Array.from({ length: 1000 }, () => chunk),
        { delayMs: 50 },
      ),
    );
    const streams = await Promise.all(
      Array.from({ length: 5 }, () => run.chat({ body: { ...chatBody, stream: true } })),
    );
    await run.stack.part('gateway').kill();
    await Promise.allSettled(streams.map((response) => response.arrayBuffer()));
    await run.stack.part('gateway').start();
    await ledgerHolds(run, before + 6);
    expect(await settledTotal(run)).toBe(before + 6);
    // Their prompts were read: each costs what that is estimated at.
    expect((await totalOf(run, 'tokens')) - tokens).toBeGreaterThanOrEqual(1500 + 5 * 15);
    expect((await totalOf(run, 'cost')) - cost).toBeGreaterThan(0.045);
  });

  it('has what was sent before an orderly stop', async () => {
    await Promise.all(Array.from({ length: 50 }, () => answered(run)));
    await run.stack.part('gateway').stop();
    await run.stack.part('gateway').start();
    await ledgerHolds(run, before + 50);
  });
});

/** In the suite `chaos/chaos.test.ts` takes NATS away under load. */
const awaySeconds = 30;

const natsAway = () => {
  let run: Scenario;
  beforeAll(async () => {
    run = await startScenario({ promptLedger: true, nats: true });
  });
  afterAll(() => run?.stop());

  it('loses nothing and doubles nothing', async () => {
    run.upstream.handle(json(200, chatReply));
    let sent = 0;
    let running = true;
    const load = (async () => {
      while (running) {
        const outcomes = await Promise.all(Array.from({ length: 5 }, () => answered(run)));
        expect(outcomes).toEqual([true, true, true, true, true]);
        sent += 5;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    await delay(2000);
    await run.stack.nats?.kill();
    await delay(awaySeconds * 1000);
    await run.stack.nats?.restart();
    await delay(2000);
    running = false;
    await load;
    expect(sent).toBeGreaterThan(awaySeconds * 15);
    await ledgerHolds(run, sent);
    expect(await settledTotal(run)).toBe(sent);
  });
};
if (isFull) describe(`NATS stopped for ${awaySeconds} s under load`, natsAway);
