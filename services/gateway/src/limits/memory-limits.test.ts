import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@sluice/testkit';
import { ownTime } from '@sluice/testkit/own-time';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleCounter as counter, take } from '../../test/limits.ts';
import type { Taken } from './limit-store.ts';
import { MemoryLimits } from './memory-limits.ts';
import { SteadyClock } from './steady-clock.ts';

let folder: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-limits-'));
});
afterAll(() => rmSync(folder, { recursive: true }));
const newPath = () => join(folder, `counters-${files++}`);

function takeNow(...asked: Parameters<typeof take>): Taken {
  const taken = take(...asked);
  if (taken instanceof Promise) throw new Error('memory waits for nobody');
  return taken;
}
const passes = (...asked: Parameters<typeof take>) => takeNow(...asked).refusedAt < 0;

describe('limits in memory', () => {
  it('begin anew with the next window, to the millisecond, and give nothing back to it', () => {
    let nowMs = Date.parse('2026-01-01T00:00:59.999Z');
    const store = new MemoryLimits({ now: () => nowMs });
    const [minute, day] = [counter({ value: 1, unit: 'rpm' }), counter({ value: 5 })];
    const first = takeNow(store, [minute, day]);
    expect(passes(store, [minute])).toBe(false);
    nowMs += 1;
    expect(passes(store, [minute, day])).toBe(true);
    store.end(
      'org',
      first.states.map((hold) => ({ hold, actual: 0 })),
    );
    expect(store.peek('org', [minute, day])).toMatchObject([{ remaining: 0 }, { remaining: 4 }]);
  });

  it('are not confused by a clock that is a day ahead for a moment, and believe one that stays there', () => {
    const day = 86_400_000;
    let wallMs = Date.parse('2026-01-01T12:00:00Z');
    let runningMs = 0;
    const pass = (ms: number) => {
      wallMs += ms;
      runningMs += ms;
    };
    const clock = new SteadyClock(
      () => wallMs,
      () => runningMs,
    );
    const store = new MemoryLimits({ now: clock.now });
    const daily = counter({ value: 2 });
    expect(passes(store, [daily])).toBe(true);
    wallMs += day;
    expect(passes(store, [daily])).toBe(true);
    expect(passes(store, [daily])).toBe(false);
    wallMs -= day;
    expect(passes(store, [daily])).toBe(false);
    // Never back, within what is doubted.
    const before = clock.now();
    wallMs -= 700;
    expect(clock.now()).toBe(before);
    wallMs += day;
    clock.now();
    pass(59_000);
    expect(passes(store, [daily])).toBe(false);
    pass(1_000);
    expect(passes(store, [daily])).toBe(true);
  });

  it('of counters that were only looked at hold nothing', () => {
    const store = new MemoryLimits();
    for (let index = 0; index < 100; index++) store.peek('org', [counter()]);
    expect(store.size).toBe(0);
  });

  it('remember counts and groups over a restart, and hold nothing for requests that are gone', async () => {
    const path = newPath();
    const group = (name: string) => counter({ id: 'p', group: `by:${name}`, value: 1 });
    const [one, tokens] = [counter({ value: 1 }), counter({ type: 'tokens', value: 100 })];
    const before = new MemoryLimits({ path, groupsMax: 1 });
    takeNow(before, [one, tokens, group('first')], { tokens: 60 });
    await before.close();
    const after = new MemoryLimits({ path, groupsMax: 1 });
    expect(passes(after, [one])).toBe(false);
    expect(after.peek('org', [tokens])).toMatchObject([{ remaining: 100 }]);
    expect(passes(after, [group('first')])).toBe(false);
    expect(passes(after, [group('second')])).toBe(true);
    expect(passes(after, [group('third')])).toBe(false);
    await after.close();
  });

  it.each([
    ['later', Date.parse('2026-03-01T00:00:00Z')],
    ['never', 0],
  ])(
    'count on when a period is to end %s, also past its first end and after a restart',
    async (_when, nextResetAtMs) => {
      let nowMs = Date.parse('2026-01-31T00:00:00Z');
      const now = () => nowMs;
      const path = newPath();
      const budget = (end: number) =>
        counter({ id: 'moved', value: 1, period: { nextResetAtMs: end } });
      const store = new MemoryLimits({ path, now });
      expect(passes(store, [budget(Date.parse('2026-02-01T00:00:00Z'))])).toBe(true);
      expect(passes(store, [budget(nextResetAtMs)])).toBe(false);
      await store.close();
      nowMs = Date.parse('2026-02-20T00:00:00Z');
      const after = new MemoryLimits({ path, now });
      expect(passes(after, [budget(nextResetAtMs)])).toBe(false);
      await after.close();
    },
  );

  it('never forget a counter that is in use, however many groups are made up', () => {
    const store = new MemoryLimits({ groupsMax: 1000 });
    const own = counter({ value: 1 });
    const used = counter({ id: 'p', group: 'by:used', value: 1 });
    takeNow(store, [own, used]);
    for (let index = 0; index < 450_000; index++)
      takeNow(store, [counter({ id: 'p', group: `by:flood ${index}`, value: 1e9 })]);
    expect(store.size).toBeLessThanOrEqual(1002);
    expect([passes(store, [own]), passes(store, [used])]).toEqual([false, false]);
  });

  it('share what all hold between several gateways', () => {
    const gateways = [0, 1, 2].map(
      (index) =>
        new MemoryLimits({
          allows: (_, { limit }) => ({ value: limit.value / 3 + index - 1, rule: 'share' }),
        }),
    );
    const daily = counter({ value: 9 });
    const passed = gateways.map(
      (store) => Array.from({ length: 20 }, () => passes(store, [daily])).filter(Boolean).length,
    );
    expect(passed).toEqual([2, 3, 4]);
  });

  // A busy machine lengthens a slice now and then; what is saved in one go takes some 40 ms each time.
  it('take 60 MB for 200,000 counters, and stop nobody while they are saved', {
    retry: 2,
  }, async () => {
    global.gc?.();
    const before = process.memoryUsage().heapUsed;
    const path = newPath();
    const store = new MemoryLimits({ path, groupsMax: 300_000 });
    const id = crypto.randomUUID();
    const scope = crypto.randomUUID();
    for (let index = 0; index < 200_000; index++)
      takeNow(store, [counter({ id, group: `metadata._user:user-${index}` })], {}, scope);
    global.gc?.();
    if (global.gc !== undefined) expect(process.memoryUsage().heapUsed - before).toBeLessThan(60e6);
    // Loaded machines stop processes by themselves: what is measured is how long we keep the loop.
    const turnsMs: number[] = [];
    let running = true;
    const watch = () => {
      const spentMs = ownTime();
      setImmediate(() => {
        turnsMs.push(spentMs());
        if (running) watch();
      });
    };
    watch();
    store.start();
    await eventually(() => existsSync(path));
    const { mtimeMs } = statSync(path);
    takeNow(store, [counter({ id, group: 'metadata._user:user-0' })], {}, scope);
    await eventually(() => statSync(path).mtimeMs > mtimeMs);
    running = false;
    // It was saved twice, and in one go both would be as long: the longest alone may be a collection of garbage.
    expect(turnsMs.toSorted((one, other) => other - one)[1]).toBeLessThan(25);
    await store.close();
  });
});
