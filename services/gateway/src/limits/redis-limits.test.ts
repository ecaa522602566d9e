import { setTimeout as delay } from 'node:timers/promises';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { uuidText } from '@sluice/usage';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exampleCounter as counter, redisLimits, take } from '../../test/limits.ts';
import type { SettlingNote } from '../exchange/reservation.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import { uuidV7 } from '../usage/uuid.ts';
import { newReservationId } from './held-reservation.ts';
import type { Hold } from './limit-store.ts';
import type { RedisLimits, RedisLimitsOptions } from './redis-limits.ts';
import { type SettlingNotes, settlingNote } from './settling-notes.ts';

let server: SpawnedServer;
const closers: (() => Promise<void>)[] = [];
beforeEach(async () => {
  server = await startRedis();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await server.stop();
});

async function gateway(options: Partial<RedisLimitsOptions> = {}): Promise<RedisLimits> {
  const { limits, close } = redisLimits(server.url, options);
  closers.push(close);
  await eventually(() => limits.isShared);
  return limits;
}

const twoGateways = (options: Partial<RedisLimitsOptions> = {}) =>
  Promise.all(
    [0, 1].map((index) =>
      gateway({ replicas: () => ({ index, count: 2 }), timeoutMs: 100, ...options }),
    ),
  ) as Promise<[RedisLimits, RedisLimits]>;

async function admitted(limits: RedisLimits, counters: Parameters<typeof take>[1], tries: number) {
  let count = 0;
  for (let index = 0; index < tries; index++)
    if ((await take(limits, counters)).refusedAt < 0) count++;
  return count;
}

/** Requests until Redis is known to be away. */
async function away(...all: RedisLimits[]): Promise<void> {
  await server.kill();
  for (const limits of all)
    await eventually(async () => {
      await take(limits, [counter()]);
      expect(limits.isShared).toBe(false);
    });
}

async function back(...all: RedisLimits[]): Promise<void> {
  await server.restart();
  for (const limits of all)
    await eventually(async () => {
      await take(limits, [counter()]);
      expect(limits.isShared).toBe(true);
    });
}

describe('two gateways', () => {
  it('admit exactly the value together', async () => {
    const [one, two] = await twoGateways({ timeoutMs: 2000 });
    const shared = [counter({ value: 100 })];
    const outcomes = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => take(index % 2 ? one : two, shared)),
    );
    expect(outcomes.filter(({ refusedAt }) => refusedAt < 0)).toHaveLength(100);
  });

  it('admit the value together without Redis as well, each its share of what was left', async () => {
    const [one, two] = await twoGateways();
    const shared = [counter({ value: 21 })];
    const unseen = [counter({ value: 7 })];
    expect([await admitted(one, shared, 3), await admitted(two, shared, 4)]).toEqual([3, 4]);
    // The one has heard of it last: the other does not know that this was taken.
    await take(one, shared);
    await away(one, two);
    const alone = [await admitted(one, shared, 30), await admitted(two, shared, 30)];
    // Of 13 and of 14: who has the odd one is another with each counter.
    expect([
      [6, 7],
      [7, 7],
    ]).toContainEqual(alone);
    const each = [await admitted(one, unseen, 30), await admitted(two, unseen, 30)];
    expect(each.toSorted()).toEqual([3, 4]);
    const refused = await take(one, shared);
    expect(refused.states[0]).toMatchObject({ alone: 'share', remaining: 0 });
  });

  it('tell of a budget of requests when it was so, also of one that comes back to what was known', async () => {
    const [one, two] = await twoGateways({ timeoutMs: 2000 });
    const budget = [counter({ value: 100, period: {} })];
    const told = (limits: RedisLimits) =>
      limits.changedCounters(10).map(({ state }) => [state.posted, state.countedAtUs] as const);
    const taken = await take(one, budget);
    const [[, firstAtUs]] = told(one) as [readonly [number, number]];
    expect(Math.abs(firstAtUs / 1000 - Date.now())).toBeLessThan(60_000);
    await take(two, budget);
    const [[second, secondAtUs]] = told(two) as [readonly [number, number]];
    // The first knows of 1, and nothing of the second's.
    one.end('org', [{ hold: taken.states[0]!, actual: 0 }]);
    await eventually(() => one.settling.lines === 0);
    const [[third, thirdAtUs]] = told(one) as [readonly [number, number]];
    expect([second, third]).toEqual([2, 1]);
    expect([secondAtUs - firstAtUs, thirdAtUs - secondAtUs].every((us) => us > 0)).toBe(true);
  });

  it('post on return what each counted alone', async () => {
    const [one, two] = await twoGateways();
    const shared = [counter({ value: 20 })];
    const tokens = [counter({ type: 'tokens', value: 1000, rules: { withoutShared: 'allow' } })];
    await away(one, two);
    expect([await admitted(one, shared, 4), await admitted(two, shared, 5)]).toEqual([4, 5]);
    const held = await take(one, tokens, { tokens: 50 });
    const late = await take(two, tokens, { tokens: 50 });
    one.end('org', [{ hold: held.states[0]!, actual: 30 }]);
    await back(one, two);
    // One that began alone, and ends when all is well again.
    two.end('org', [{ hold: late.states[0]!, actual: 11 }]);
    await eventually(async () => {
      const [requests] = await one.peek('org', shared);
      const [used] = await two.peek('org', tokens);
      expect([requests?.posted, used?.posted, used?.pending]).toEqual([9, 41, 0]);
    });
    expect((await admitted(one, shared, 20)) + (await admitted(two, shared, 20))).toBe(11);
  });

  it('admit no more where Redis comes and goes before it has heard what was counted alone', async () => {
    const limits = await gateway();
    const requests = [counter({ value: 20 })];
    const tokens = [counter({ type: 'tokens', value: 100, rules: { isStrict: true } })];
    await take(limits, requests);
    // It can be written to, so that it seems to be back each time, and runs no script.
    const redis = new Redis(server.url);
    closers.push(async () => redis.disconnect());
    await redis.call('ACL', 'SETUSER', 'default', '-evalsha', '-eval');
    const held: Hold[] = [];
    let of = 0;
    for (let turns = 0; turns < 30; turns++) {
      of += await admitted(limits, requests, 30);
      const { refusedAt, states } = await take(limits, tokens, { tokens: 40 });
      if (refusedAt < 0) held.push(...states);
      await delay(100);
    }
    expect([of, held.length]).toEqual([19, 2]);
    for (const hold of held) limits.end('org', [{ hold, actual: 10 }]);
    await delay(700);
    const more = await take(limits, tokens, { tokens: 81 });
    expect(more.refusedAt).toBe(0);
    const rest = await take(limits, tokens, { tokens: 80 });
    expect(rest.refusedAt).toBe(-1);
    limits.end('org', [{ hold: rest.states[0]!, actual: 80 }]);
    await redis.call('ACL', 'SETUSER', 'default', '+@all');
    await eventually(async () => {
      await limits.refresh();
      const [used] = await limits.peek('org', requests);
      const [spent] = await limits.peek('org', tokens);
      expect([used?.alone, used?.posted, spent?.posted]).toEqual([undefined, 20, 100]);
    });
  });

  it('frees what somebody who is gone might have used beyond the limit, also where they held nothing', async () => {
    const nowMs = { value: Date.UTC(2040, 0, 1) };
    const limits = await gateway({ now: () => nowMs.value, expiryMs: 30_000, timeoutMs: 2000 });
    const spent = counter({ type: 'tokens', value: 100 });
    const used = await limits.take('org', {
      id: newReservationId(),
      counters: [{ counter: spent, amount: 100, isSoft: false }],
      ofRequest: 1,
    });
    limits.end('org', [{ hold: used.states[0]!, actual: 100 }]);
    await eventually(async () =>
      expect(await limits.peek('org', [spent])).toMatchObject([{ posted: 100, pending: 0 }]),
    );
    const softly = { counter: spent, amount: 40, isSoft: true };
    for (const id of [newReservationId(), newReservationId()])
      await limits.take('org', { id, counters: [softly], ofRequest: 0 });
    nowMs.value += 31_000;
    expect(await limits.peek('org', [spent])).toMatchObject([{ pending: 0, overshoot: 0 }]);
  });

  it('of which one dies while Redis hangs: what it asked and nobody waits for is not counted', async () => {
    const { limits: one, leave, comeBack, close } = redisLimits(server.url, { timeoutMs: 100 });
    closers.push(close);
    await eventually(() => one.isShared);
    const two = await gateway();
    const requests = [counter({ value: 100 })];
    const tokens = [counter({ type: 'tokens', value: 1000 })];
    const posted = async () => {
      const [counted] = await two.peek('org', requests);
      const [held] = await two.peek('org', tokens);
      return [counted?.posted, held?.pending];
    };
    await take(one, requests);
    expect(await posted()).toEqual([1, 0]);
    process.kill(server.pid, 'SIGSTOP');
    try {
      const asked = await Promise.all([take(one, requests), take(one, tokens, { tokens: 50 })]);
      expect(asked.map(({ states }) => states[0]?.alone)).toEqual(['share', 'share']);
      leave();
      await delay(1_100);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await eventually(() => two.isShared);
    expect(await posted()).toEqual([1, 0]);
    // One that is there asks again by the clock of Redis.
    comeBack();
    await eventually(() => one.isShared);
    await take(one, requests);
    await eventually(async () => expect((await posted())[0]).toBeGreaterThan(1));
  });

  it('of which one dies: what it held is free after a while, and what a paused one used is posted once', async () => {
    const nowMs = { value: Date.UTC(2040, 0, 1) };
    const options = { now: () => nowMs.value, expiryMs: 30_000, timeoutMs: 2000 };
    const [one, two] = [await gateway(options), await gateway(options)];
    const budget = [counter({ type: 'cost', value: 100, period: {} })];
    const held = await take(one, budget, { costNanoUsd: 100 });
    expect((await take(two, budget)).refusedAt).toBe(0);
    nowMs.value += 20_000;
    one.renew();
    await eventually(() => one.settling.lines === 0);
    nowMs.value += 20_000;
    expect((await take(two, budget)).refusedAt).toBe(0);
    nowMs.value += 11_000;
    const taken = await take(two, budget, { costNanoUsd: 40 });
    expect(taken.refusedAt).toBe(-1);
    for (let times = 0; times < 2; times++) one.end('org', [{ hold: held.states[0]!, actual: 70 }]);
    await eventually(async () =>
      expect(await two.peek('org', budget)).toMatchObject([{ posted: 70, pending: 40 }]),
    );
  });
});

describe('a gateway that dies', () => {
  /** Kept on disk in earnest. */
  class Notes implements SettlingNotes {
    readonly texts = new Map<string, string>();
    recalled = () => [...this.texts];
    keep = ({ key, text }: SettlingNote) => void this.texts.set(key, text);
    forget = (key: string) => void this.texts.delete(key);
  }

  const budget = [counter({ type: 'cost', value: 1000, period: {} })];
  const tokens = { tokens: 100, costNanoUsd: 100 };

  it.each([
    ['at once', 0],
    ['when what it held is free again', 40_000],
    ['hours later', 10_000_000],
  ])('settles in its next life what it noted, once, %s', async (_, afterMs) => {
    const nowMs = { value: Date.UTC(2040, 0, 1) };
    const options = { now: () => nowMs.value, expiryMs: 30_000, timeoutMs: 2000 };
    const other = await gateway(options);
    const notes = new Notes();
    const dead = await gateway({ ...options, notes });
    const states = (await take(dead, budget, tokens)).states;
    const settled = (await take(dead, budget, tokens)).states;
    const end = dead.noteOf({ hold: states[0]!, actual: 70 })!;
    const endOfSettled = dead.noteOf({ hold: settled[0]!, actual: 5 })!;
    dead.end('org', [{ hold: settled[0]!, actual: 5 }]);
    await eventually(() => dead.settling.lines === 0);
    notes.keep(settlingNote('r1', 'org', [end, endOfSettled]));
    // What others see of it meanwhile.
    nowMs.value += afterMs;
    await other.peek('org', budget);
    for (let life = 0; life < 2; life++) {
      const next = await gateway({ ...options, notes });
      next.start();
      await eventually(() => expect(notes.texts.size).toBe(0));
      expect(await other.peek('org', budget)).toMatchObject([
        { posted: 75, pending: 0, overshoot: 0 },
      ]);
      expect(next.changedCounters(10).at(-1)).toMatchObject({
        scope: 'org',
        state: { name: states[0]!.name, posted: 75, pending: 0 },
      });
      notes.keep(settlingNote('r1', 'org', [end]));
    }
  });

  it('gives back in its next life what it leased', async () => {
    const notes = new Notes();
    const large = [counter({ type: 'cost', value: 1_000_000, period: {} })];
    const dead = await gateway({ notes, timeoutMs: 2000 });
    await take(dead, large, { costNanoUsd: 10 });
    await dead.lease();
    expect(notes.texts.size).toBe(1);
    const next = await gateway({ notes, timeoutMs: 2000 });
    const [before] = await next.peek('org', large);
    expect(before?.pending).toBeGreaterThan(10_000);
    next.start();
    await eventually(async () =>
      expect(await next.peek('org', large)).toMatchObject([{ posted: 0, pending: 10 }]),
    );
    expect(notes.texts.size).toBe(0);
  });
});

describe('rules without Redis', () => {
  it.each([
    ['allow', 5, 'allow'],
    ['refuse', 0, 'refuse'],
    ['lease', 0, 'lease'],
  ] as const)('%s', async (withoutShared, count, alone) => {
    const limits = await gateway({ timeoutMs: 100 });
    await away(limits);
    const one = [counter({ value: 3, rules: { withoutShared } })];
    expect(await admitted(limits, one, 5)).toBe(count);
    expect((await take(limits, one)).states[0]?.alone).toBe(alone);
  });
});

describe('who waits for counts', () => {
  it('has them, however long this process itself was held up', async () => {
    const limits = await gateway();
    const tokens = [counter({ type: 'tokens', value: 1000 })];
    const { states } = await take(limits, tokens, { tokens: 10 });
    limits.end('org', [{ hold: states[0]!, actual: 700 }]);
    const settled = limits.settled('org');
    const untilMs = performance.now() + 700;
    while (performance.now() < untilMs);
    await settled;
    expect(limits.settling.lines).toBe(0);
  });

  it('waits no longer than half a second for a Redis that says nothing', async () => {
    const limits = await gateway();
    const { states } = await take(limits, [counter({ type: 'tokens', value: 1000 })]);
    process.kill(server.pid, 'SIGSTOP');
    try {
      limits.end('org', [{ hold: states[0]!, actual: 700 }]);
      const beganMs = performance.now();
      await limits.settled('org');
      expect(performance.now() - beganMs).toBeGreaterThan(400);
      expect(limits.settling.lines).toBe(1);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  });
});

describe('a Redis that hangs', () => {
  it('delays the requests of one tenth of a second, and none after them', async () => {
    const limits = await gateway({ timeoutMs: 100 });
    const one = [counter({ value: 1000 })];
    await take(limits, one);
    process.kill(server.pid, 'SIGSTOP');
    try {
      const waits: number[] = [];
      for (let index = 0; index < 50; index++) {
        const before = performance.now();
        await take(limits, one);
        waits.push(performance.now() - before);
      }
      expect(waits.filter((ms) => ms > 50)).toHaveLength(1);
      expect(Math.max(...waits)).toBeLessThan(250);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    // What was taken after nobody waited for it any more is given back.
    await eventually(() => limits.isShared);
    await take(limits, one);
    await eventually(async () => {
      const [state] = await limits.peek('org', one);
      expect(state?.posted).toBe(52);
    });
  });
});

describe('a Redis that was emptied', () => {
  const sums = new Map<string, number>();
  const asked: string[] = [];
  const sumCounters = async (_: string, names: readonly string[]) => {
    asked.push(...names);
    return new Map(names.flatMap((name) => (sums.has(name) ? [[name, sums.get(name) ?? 0]] : [])));
  };
  beforeEach(() => {
    sums.clear();
    asked.length = 0;
  });
  const flush = async () => {
    const redis = new Redis(server.url);
    await redis.flushall();
    redis.disconnect();
  };

  it('has its counters back from the ledger, set once by whoever needs them first', async () => {
    const [one, two] = await twoGateways({ sumCounters, timeoutMs: 2000 });
    const known = [counter({ type: 'tokens', value: 100, period: {} })];
    const group = [counter({ value: 10, group: 'metadata._user:alice', period: {} })];
    const { states } = await take(one, known, { tokens: 10 });
    one.end('org', [{ hold: states[0]!, actual: 10 }]);
    await take(two, known, { tokens: 1 });
    await eventually(() => one.settling.lines === 0);
    const nameOf = async (counters: typeof known) => (await one.peek('org', counters))[0]!.name;
    sums.set(await nameOf(known), 60);
    sums.set(await nameOf(group), 8);
    await flush();
    const [first, second] = await Promise.all([
      take(one, known, { tokens: 1 }),
      take(two, known, { tokens: 1 }),
    ]);
    expect([first.refusedAt, second.refusedAt]).toEqual([-1, -1]);
    expect(await one.peek('org', known)).toMatchObject([{ posted: 60, pending: 2 }]);
    expect((await admitted(one, group, 5)) + (await admitted(two, group, 5))).toBe(2);
  });

  it('is told from one that is new: of that the ledger is asked once', async () => {
    const limits = await gateway({ sumCounters, timeoutMs: 2000 });
    await admitted(limits, [counter({ period: {} })], 2);
    await admitted(limits, [counter({ period: {} })], 2);
    expect(asked).toHaveLength(1);
  });

  it('admits no more than the limit while the ledger takes its time', async () => {
    const slow = {
      sumCounters: (...asks: Parameters<typeof sumCounters>) =>
        delay(400).then(() => sumCounters(...asks)),
    };
    const [one, two] = await twoGateways({ ...slow, timeoutMs: 2000 });
    // Known to have been filled: of each counter of this day the ledger is asked.
    const before = [counter()];
    await take(one, before);
    await take(two, before);
    await flush();
    await take(one, before);
    await take(two, before);
    const shared = [counter({ value: 100 })];
    const outcomes = await Promise.all(
      Array.from({ length: 300 }, (_, index) => take(index % 2 ? one : two, shared)),
    );
    expect(outcomes.filter(({ states }) => states[0]?.alone !== undefined)).toEqual([]);
    expect(outcomes.filter(({ refusedAt }) => refusedAt < 0)).toHaveLength(100);
    expect(asked).toContain(outcomes[0]?.states[0]?.name);
  });

  it('counts to the last one what gateways know of before that, whatever the ledger has of it', async () => {
    const limit = counter({ value: 1000, period: {} });
    const budget = counter({ type: 'tokens', value: 1e9, period: {} });
    const gateways = await twoGateways({ sumCounters, timeoutMs: 2000 });
    let [admitted, used, ended] = [0, 0, 0];
    const underWay: (() => void)[] = [];
    const request = async (gateway: RedisLimits) => {
      const { refusedAt, states } = await take(gateway, [limit, budget], { tokens: 500 });
      if (refusedAt >= 0) return;
      expect(states.map(({ alone }) => alone)).toEqual([undefined, undefined]);
      const number = ++admitted;
      underWay.push(() => {
        // One that was denied gives its count back; some are told more of after their end.
        const isDenied = number % 7 === 0;
        const actual = isDenied ? 0 : 100 + number;
        const ends = [{ hold: states[1]!, actual }];
        if (isDenied) {
          admitted--;
          ends.push({ hold: states[0]!, actual: 0 });
        }
        gateway.end('org', ends);
        if (number % 5 === 0) gateway.add('org', [states[1]!], [3]);
        used += actual + (number % 5 === 0 ? 3 : 0);
        // The ledger hears of every third.
        if (++ended % 3 > 0) return;
        for (const [state, amount] of [
          [states[0]!, isDenied ? 0 : 1],
          [states[1]!, actual],
        ] as const)
          sums.set(state.name, (sums.get(state.name) ?? 0) + amount);
      });
    };
    for (let round = 0; round < 12; round++) {
      const asked = Array.from({ length: 10 + round }, (_, at) => request(gateways[at % 2]!));
      if (round % 3 === 1) await flush();
      await Promise.all(asked);
      for (const end of underWay.splice(0, underWay.length - 4)) end();
      // Others hear of what was given back by what they ask.
      for (const gateway of gateways) await eventually(() => gateway.settling.lines === 0);
      await Promise.all(gateways.map((gateway) => request(gateway)));
    }
    for (const end of underWay.splice(0)) end();
    for (const gateway of gateways)
      await eventually(async () => {
        expect(gateway.settling.lines).toBe(0);
        expect(await gateway.peek('org', [limit, budget])).toMatchObject([
          { posted: admitted },
          { posted: used, pending: 0, overshoot: 0 },
        ]);
      });
  });

  it('knows of what is told late before it is asked again, and of the ledger as well', async () => {
    const [one, two] = await twoGateways({ sumCounters, timeoutMs: 2000 });
    const other = [counter({ period: {} })];
    const tokens = [counter({ type: 'tokens', value: 1000, period: {} })];
    const { states } = await take(one, tokens, { tokens: 10 });
    one.end('org', [{ hold: states[0]!, actual: 10 }]);
    await eventually(() => one.settling.lines === 0);
    sums.set(states[0]!.name, 700);
    await flush();
    // What it is asked first is not of this counter.
    await take(one, other);
    one.add('org', states, [7]);
    await eventually(() => one.settling.lines === 0);
    expect((await take(two, tokens, { tokens: 1 })).states).toMatchObject([{ posted: 700 }]);
  });

  it('makes requests wait for a ledger that hangs once, and hardly after that', async () => {
    let hangs = false;
    const limits = await gateway({
      timeoutMs: 2000,
      sumCounters: (...asks) => (hangs ? new Promise(() => {}) : sumCounters(...asks)),
    });
    await take(limits, [counter()]);
    await flush();
    await take(limits, [counter()]);
    hangs = true;
    const waits: number[] = [];
    for (let index = 0; index < 6; index++) {
      const startedAt = performance.now();
      await take(limits, [counter()]);
      waits.push(performance.now() - startedAt);
    }
    expect(waits.filter((ms) => ms > 500)).toHaveLength(1);
    expect(Math.max(...waits)).toBeLessThan(1500);
  });

  it('has lost nothing of a limit that was made since, for which no ledger is asked while it is young', async () => {
    let isAway = false;
    let laterMs = 0;
    const limits = await gateway({
      timeoutMs: 2000,
      now: () => Date.now() + laterMs,
      sumCounters: async (...asks) => {
        if (isAway) throw new Error('away');
        return sumCounters(...asks);
      },
    });
    await take(limits, [counter()]);
    await flush();
    await take(limits, [counter()]);
    isAway = true;
    const budget = (madeInMs: number, kind: 'api_key' | 'policy' | 'token' = 'api_key') =>
      counter({ id: uuidText(uuidV7(Date.now() + madeInMs)), kind, value: 100, period: {} });
    const ruleOf = async (...counters: ReturnType<typeof counter>[]) =>
      (await take(limits, counters)).states.map(({ alone }) => alone);
    expect(await ruleOf(budget(120_000), budget(180_000, 'policy'))).toEqual([
      undefined,
      undefined,
    ]);
    // Clocks are not all alike; ids of tokens are their issuers', and others may be of any form.
    expect(await ruleOf(budget(1000))).toEqual(['lease']);
    expect(await ruleOf(budget(120_000, 'token'))).toEqual(['lease']);
    expect(await ruleOf(counter({ id: crypto.randomUUID(), period: {} }))).toEqual(['lease']);
    expect(await ruleOf(budget(120_000), budget(-60_000))).toEqual(['lease', 'lease']);
    // A Redis that is full may have dropped the counter of an older one.
    laterMs = 2 * 3_600_000;
    expect(await ruleOf(budget(120_000))).toEqual(['lease']);
    expect(await ruleOf(budget(laterMs))).toEqual([undefined]);
  });

  it('counts by the rule of each limit while the ledger does not answer', async () => {
    let answers = true;
    const limits = await gateway({
      timeoutMs: 2000,
      sumCounters: async (...asks) => {
        if (!answers) throw new Error('away');
        return sumCounters(...asks);
      },
    });
    const one = counter({ value: 10, period: {}, rules: { withoutShared: 'refuse' } });
    expect(await admitted(limits, [one], 3)).toBe(3);
    await flush();
    answers = false;
    const fresh = counter({ value: 10, period: {}, rules: { withoutShared: 'refuse' } });
    expect((await take(limits, [fresh])).states[0]?.alone).toBe('refuse');
    // A window that began since cannot have lost anything, and is shared.
    answers = true;
    await eventually(async () => expect((await take(limits, [fresh])).refusedAt).toBe(-1));
    // Of the other it is shown what this gateway heard.
    expect(await limits.peek('org', [one])).toMatchObject([{ posted: 3 }]);
  });
});

describe('what is held while Redis hangs', () => {
  it('is said as soon as it answers, and waits for that once', async () => {
    let nowMs = Date.now();
    const limits = await gateway({ expiryMs: 30_000, timeoutMs: 1000, now: () => nowMs });
    const tokens = [counter({ type: 'tokens', value: 1_000_000 })];
    for (let index = 0; index < 20; index++) await take(limits, tokens, { tokens: 10 });
    const [{ pending = 0 } = {}] = await limits.peek('org', tokens);
    expect(pending).toBe(200);
    process.kill(server.pid, 'SIGSTOP');
    try {
      await eventually(async () => {
        await take(limits, [counter()]);
        expect(limits.isShared).toBe(false);
      });
      for (let index = 0; index < 10; index++) {
        nowMs += 2000;
        limits.renew();
        await limits.refresh();
      }
      expect(limits.settling.lines).toBeLessThan(20);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await eventually(() => limits.isShared);
    await limits.refresh();
    await eventually(() => limits.settling.lines === 0);
    // Nobody heard of it for longer than the gateway was silent before.
    nowMs += 20_000;
    expect(await limits.peek('org', tokens)).toMatchObject([{ pending }]);
  });
});

describe('what a counter takes in Redis', () => {
  it.each(['requests', 'tokens'] as const)(
    'is there for as long as its period lasts, which may end later than when it began: of %s',
    async (type) => {
      const limits = await gateway();
      const redis = new Redis(server.url);
      const hour = 3_600_000;
      const budget = (hours: number) =>
        counter({
          id: 'moved',
          type,
          value: 1,
          period: { nextResetAtMs: Date.now() + hours * hour },
        });
      const leftMs = () => redis.pttl(sharedKeys.limit('org', 'moved@0.0'));
      await take(limits, [budget(1)]);
      expect(await leftMs()).toBeLessThan(50 * hour);
      // It is spent, and told so.
      expect(await take(limits, [budget(500)])).toMatchObject({ refusedAt: 0 });
      expect(await leftMs()).toBeGreaterThan(499 * hour);
      redis.disconnect();
    },
  );

  it('is at most 300 bytes, and a reservation 200', async () => {
    const limits = await gateway({ timeoutMs: 2000 });
    const redis = new Redis(server.url);
    const memory = async () => {
      const used = /used_memory:(\d+)/.exec(await redis.info('memory'))?.[1];
      return Number(used);
    };
    const scope = crypto.randomUUID();
    const id = () => crypto.randomUUID();
    const counters = Array.from({ length: 2000 }, () => counter({ id: id(), value: 1e9 }));
    await take(limits, counters.slice(0, 1), {}, scope);
    const before = await memory();
    for (let from = 0; from < 2000; from += 100)
      await take(limits, counters.slice(from, from + 100), {}, scope);
    expect(((await memory()) - before) / 1999).toBeLessThan(300);
    const tokens = counter({ id: id(), type: 'tokens', value: 1e12, period: {} });
    await take(limits, [tokens], { tokens: 1234 }, scope);
    const empty = await memory();
    for (let index = 0; index < 2000; index++)
      await take(limits, [tokens], { tokens: 1234 }, scope);
    expect(((await memory()) - empty) / 2000).toBeLessThan(200);
    redis.disconnect();
  });
});

describe('leases', () => {
  it('of large budgets are what may be used without Redis, and are given back', async () => {
    const limits = await gateway({ timeoutMs: 100 });
    const other = await gateway({ timeoutMs: 2000 });
    const large = [counter({ type: 'tokens', value: 1_000_000, period: {} })];
    const small = [counter({ type: 'tokens', value: 900, period: {} })];
    const held = await take(limits, large, { tokens: 10 });
    const little = await take(limits, small, { tokens: 10 });
    for (const { states } of [held, little]) limits.end('org', [{ hold: states[0]!, actual: 10 }]);
    await eventually(() => limits.settling.lines === 0);
    await limits.lease();
    await limits.lease();
    await eventually(() => limits.settling.lines === 0);
    // A twentieth of what is left, once; of what is nearly gone nothing.
    expect(await other.peek('org', large)).toMatchObject([{ posted: 10, pending: 49_999 }]);
    expect(await other.peek('org', small)).toMatchObject([{ posted: 10, pending: 0 }]);
    process.kill(server.pid, 'SIGSTOP');
    try {
      await eventually(async () => {
        await take(limits, [counter()]);
        expect(limits.isShared).toBe(false);
      });
      const alone = await take(limits, large, { tokens: 49_000 });
      expect(alone.states[0]).toMatchObject({ alone: 'lease', held: 49_000 });
      limits.end('org', [{ hold: alone.states[0]!, actual: 49_999 }]);
      expect((await take(limits, large)).refusedAt).toBe(0);
      expect((await take(limits, small)).refusedAt).toBe(0);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await eventually(() => limits.isShared);
    await take(limits, [counter()]);
    await limits.close();
    await eventually(async () =>
      expect(await other.peek('org', large)).toMatchObject([{ posted: 50_009, pending: 0 }]),
    );
  });
});
