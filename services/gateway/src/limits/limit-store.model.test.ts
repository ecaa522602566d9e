import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Counter, epochAt, overshootBound } from '@sluice/engine';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { estimate, exampleCounter, redisLimits, take } from '../../test/limits.ts';
import { newReservationId, wantsOf } from './held-reservation.ts';
import type { Hold, LimitStore } from './limit-store.ts';
import { MemoryLimits } from './memory-limits.ts';

/**
 * Reservations of several gateways against a model that is told in a few lines:
 * what was used, what is held and by whom, and when who is silent is gone.
 * `LIMIT_STORE_RUNS` says how many histories; the suite tries a few.
 */
const runs = Number(process.env.LIMIT_STORE_RUNS ?? 25);

const expiryMs = 30_000;
const replicaCount = 3;
/** Later than the clock of Redis, which forgets by its own. */
const beginningMs = Date.UTC(2040, 0, 1, 0, 0, 30);

let server: SpawnedServer;
let folder: string;
beforeAll(async () => {
  server = await startRedis();
  folder = mkdtempSync(join(tmpdir(), 'limit-store-'));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

interface Clock {
  nowMs: number;
}

/** Gateways over one store. */
interface Fleet {
  readonly count: number;
  store(replica: number): LimitStore;
  /** What a replica does by itself from time to time. */
  renew(replica: number): void;
  /** It dies, and comes back without what it knew. */
  crash(replica: number): Promise<void>;
  settled(): Promise<void>;
  /** What gateways share is away from all of them; absent = they share nothing. */
  leave?(): void;
  comeBack?(): Promise<void>;
  close(): Promise<void>;
  /** What a gateway that is gone held is free at once: nobody else knew of it. */
  readonly forgetsAtOnce: boolean;
}

async function redisFleet(clock: Clock): Promise<Fleet> {
  let isAway = false;
  const open = async (index: number) => {
    const opened = redisLimits(server.url, {
      now: () => clock.nowMs,
      expiryMs,
      timeoutMs: 10_000,
      replicas: () => ({ index, count: replicaCount }),
    });
    if (isAway) opened.leave();
    else await eventually(() => opened.limits.isShared);
    return opened;
  };
  const replicas = await Promise.all(
    Array.from({ length: replicaCount }, (_, index) => open(index)),
  );
  const gone: typeof replicas = [];
  const at = (replica: number) => replicas[replica]!;
  return {
    count: replicaCount,
    forgetsAtOnce: false,
    store: (replica) => at(replica).limits,
    renew: (replica) => at(replica).limits.renew(),
    async crash(replica) {
      gone.push(at(replica));
      replicas[replica] = await open(replica);
    },
    leave() {
      isAway = true;
      for (const replica of replicas) replica.leave();
    },
    async comeBack() {
      isAway = false;
      for (const each of replicas) each.comeBack();
      for (const { limits } of replicas) {
        await eventually(() => limits.isShared);
        // As it does from time to time.
        await limits.refresh();
      }
    },
    async settled() {
      while (replicas.some(({ limits }) => limits.settling.lines > 0)) await delay(1);
    },
    async close() {
      await Promise.all([...replicas, ...gone].map(({ close }) => close()));
    },
  };
}

let files = 0;
async function memoryFleet(clock: Clock): Promise<Fleet> {
  const path = join(folder, `counters-${files++}`);
  const open = () => new MemoryLimits({ now: () => clock.nowMs, path });
  let store = open();
  return {
    count: 1,
    forgetsAtOnce: true,
    store: () => store,
    renew: () => {},
    async crash() {
      await store.close();
      store = open();
    },
    settled: async () => {},
    close: () => store.close(),
  };
}

interface ModelHold {
  readonly hold: Hold;
  readonly counter: Counter;
  readonly epoch: string;
  readonly replica: number;
  readonly life: number;
  readonly isAlone: boolean;
  expiresAtMs: number;
}

/** What one gateway counted while there was nobody to ask, and posts later. */
interface CountedAlone {
  readonly each: ModelHold;
  readonly posted: number;
}

interface ModelCounter {
  posted: number;
  held: Set<ModelHold>;
}

/** What the counters must be, told by what was done. */
class Model {
  readonly #counters = new Map<string, ModelCounter>();

  readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  of(counter: Counter, epoch = epochAt(counter, this.clock.nowMs).name): ModelCounter {
    const key = `${counter.limit.id}@${epoch}`;
    let found = this.#counters.get(key);
    if (found === undefined) {
      found = { posted: 0, held: new Set() };
      this.#counters.set(key, found);
    }
    for (const each of found.held)
      if (each.expiresAtMs <= this.clock.nowMs) found.held.delete(each);
    return found;
  }

  pending(counter: Counter): number {
    return sum(this.of(counter).held, ({ hold }) => hold.held);
  }

  overshoot(counter: Counter): number {
    return sum(this.of(counter).held, ({ hold }) => hold.short);
  }
}

function sum<T>(all: Iterable<T>, amount: (each: T) => number): number {
  let total = 0;
  for (const each of all) total += amount(each);
  return total;
}

interface World {
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly model: Model;
  readonly counters: readonly Counter[];
  /** Of requests under way, each ended once. */
  readonly open: ModelHold[][];
  readonly lives: number[];
  /** The shared counters cannot be asked. */
  isAway: boolean;
  readonly countedAlone: CountedAlone[];
}

async function check({ fleet, model, counters, clock, isAway }: World): Promise<void> {
  if (isAway) return;
  await fleet.settled();
  for (let replica = 0; replica < fleet.count; replica++) {
    const states = await fleet.store(replica).peek('org', counters);
    for (const [index, counter] of counters.entries()) {
      const { posted, pending, remaining, overshoot } = states[index]!;
      const expected = model.of(counter);
      expect({ posted, pending, overshoot }).toEqual({
        posted: expected.posted,
        pending: model.pending(counter),
        overshoot: model.overshoot(counter),
      });
      expect(remaining).toBe(Math.max(0, counter.limit.value - posted - pending - overshoot));
      expect(clock.nowMs).toBeGreaterThan(0);
    }
  }
}

type Command = fc.AsyncCommand<World, World>;

/** A command that can always be run, with the check behind it. */
function command(name: string, run: (world: World) => Promise<void>): Command {
  return {
    check: () => true,
    toString: () => name,
    async run(_, world) {
      await run(world);
      await check(world);
    },
  };
}

const taking = fc
  .record({
    replica: fc.nat(replicaCount - 1),
    which: fc.subarray([0, 1, 2, 3], { minLength: 1 }),
    amount: fc.oneof(fc.nat(60), fc.nat(400)),
    isSoft: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  .map(({ replica, which, amount, isSoft }) =>
    command(`take(${replica}, [${which}], ${amount}${isSoft ? ', softly' : ''})`, async (world) => {
      const { fleet, model, clock, counters } = world;
      const at = replica % fleet.count;
      if (world.isAway) {
        await takeAlone(world, at, which, amount);
        return;
      }
      const wanted = which.map((index) => counters[index]!);
      const left = wanted.map(
        (counter) =>
          counter.limit.value -
          model.of(counter).posted -
          model.pending(counter) -
          model.overshoot(counter),
      );
      const needs = wanted.map(({ limit }) => (limit.rules.isStrict ? Math.max(1, amount) : 1));
      // What is taken softly no counter refuses.
      const expected = isSoft ? -1 : left.findIndex((room, index) => room < needs[index]!);
      const amounts = { tokens: amount, costNanoUsd: amount };
      const asked = wantsOf(newReservationId(), wanted, [], estimate(amounts));
      const wants = { ...asked, counters: asked.counters.map((want) => ({ ...want, isSoft })) };
      const { refusedAt, states } = await fleet.store(at).take('org', wants);
      expect(refusedAt).toBe(expected);
      if (refusedAt >= 0) return;
      const holds = states.flatMap((hold, index): ModelHold[] => {
        const counter = wanted[index]!;
        const asked = counter.limit.type === 'requests' ? 1 : amount;
        const isCounted = counter.limit.type === 'requests';
        expect(hold.held).toBe(isCounted ? asked : Math.min(asked, Math.max(0, left[index]!)));
        expect(hold.short).toBe(asked - hold.held);
        const epoch = epochAt(counter, clock.nowMs).name;
        const life = world.lives[at]!;
        const expiresAtMs = fleet.forgetsAtOnce ? Number.POSITIVE_INFINITY : clock.nowMs + expiryMs;
        return [{ hold, counter, epoch, replica: at, life, isAlone: false, expiresAtMs }];
      });
      for (const each of holds) {
        const counter = model.of(each.counter);
        if (each.counter.limit.type === 'requests') counter.posted += each.hold.held;
        else counter.held.add(each);
      }
      world.open.push(holds);
    }),
  );

const ending = fc
  .record({ which: fc.nat(), used: fc.nat(1000), times: fc.integer({ min: 1, max: 3 }) })
  .map(({ which, used, times }) =>
    command(`end(${which}, ${used}‰, ${times} times)`, async (world) => {
      const { fleet, model, open, lives, clock } = world;
      const alive = open.filter((holds) =>
        holds.every(({ replica, life }) => lives[replica] === life),
      );
      const holds = alive[which % Math.max(1, alive.length)];
      if (holds === undefined) return;
      open.splice(open.indexOf(holds), 1);
      const ends = holds.map(({ hold, counter }) => {
        const asked = hold.held + hold.short;
        const isRequests = counter.limit.type === 'requests';
        return { hold, actual: isRequests ? used % 2 : Math.floor((asked * used) / 1000) };
      });
      const store = fleet.store(holds[0]!.replica);
      // Told more than once it is done once, also where the answer was lost.
      for (let told = 0; told < times; told++) store.end('org', ends);
      for (const [index, each] of holds.entries()) {
        const { actual } = ends[index]!;
        const counter = model.of(each.counter, each.epoch);
        const isRequests = each.counter.limit.type === 'requests';
        if (isRequests && isForgotten(each, clock)) continue;
        if (each.isAlone && world.isAway) {
          const posted = isRequests ? actual - each.hold.held : actual;
          world.countedAlone.push({ each, posted });
          continue;
        }
        counter.posted += isRequests ? actual - each.hold.held : actual;
        counter.held.delete(each);
      }
    }),
  );

function isForgotten({ hold }: ModelHold, { nowMs }: Clock): boolean {
  return hold.epoch.endMs !== 0 && hold.epoch.endMs + 60_000 <= nowMs;
}

/** Time passes, and one of the gateways may be stopped meanwhile. */
const passing = fc
  .record({
    ms: fc.constantFrom(1000, 9_000, 31_000, 65_000),
    asleep: fc.option(fc.nat(replicaCount - 1), { nil: -1 }),
  })
  .map(({ ms, asleep }) =>
    command(`pass(${ms}, asleep ${asleep})`, async (world) => {
      // Whether who was away had time to say that it is here depends on who asks first on return.
      if (world.isAway) return;
      const { clock, fleet, open, lives } = world;
      for (let left = ms; left > 0; ) {
        const step = Math.min(left, expiryMs / 3);
        clock.nowMs += step;
        left -= step;
        for (let replica = 0; replica < fleet.count; replica++)
          if (replica !== asleep) fleet.renew(replica);
        await fleet.settled();
        for (const each of open.flat()) {
          const { replica, life, hold } = each;
          const isThere = lives[replica] === life && replica !== asleep;
          const stands = world.model.of(each.counter, each.epoch).held.has(each);
          if (isThere && stands && step >= expiryMs / 4 && hold.counter.limit.type !== 'requests')
            each.expiresAtMs = Math.max(each.expiresAtMs, clock.nowMs + expiryMs);
        }
        // Who looks finds out who is gone.
        for (const counter of world.counters) world.model.of(counter);
        await fleet.store(0).peek('org', world.counters);
      }
    }),
  );

const crashing = fc.nat(replicaCount - 1).map((replica) =>
  command(`crash(${replica})`, async (world) => {
    const at = replica % world.fleet.count;
    if (!world.isAway) await world.fleet.settled();
    // What it had on its way while there was nobody to take it is lost with it.
    else if (world.fleet.store(at).settling.lines > 0) return;
    await world.fleet.crash(at);
    world.lives[at]!++;
    if (!world.fleet.forgetsAtOnce) return;
    for (const each of world.open.flat()) {
      const counter = world.model.of(each.counter, each.epoch);
      if (each.replica === at) counter.held.delete(each);
    }
  }),
);

/** A few of them at a time: each takes a while. */
const leaving = fc.constant(
  command('leave', async (world) => {
    if (world.isAway || world.fleet.leave === undefined) return;
    await world.fleet.settled();
    world.fleet.leave();
    world.isAway = true;
  }),
);

const comingBack = fc.constant(command('come back', comeBack));

async function comeBack(world: World): Promise<void> {
  if (!world.isAway) return;
  world.isAway = false;
  await world.fleet.comeBack?.();
  await world.fleet.settled();
  for (const { each, posted } of world.countedAlone.splice(0)) {
    // What a gateway counted alone and died with, nobody knows.
    if (world.lives[each.replica] !== each.life) continue;
    world.model.of(each.counter, each.epoch).posted += posted;
  }
}

/** By the rule of each limit; what several together take of one is no more than the limit. */
async function takeAlone(
  world: World,
  at: number,
  which: readonly number[],
  amount: number,
): Promise<void> {
  const wanted = which.map((index) => world.counters[index]!);
  const amounts = { tokens: amount, costNanoUsd: amount };
  const { refusedAt, states } = await take(world.fleet.store(at), wanted, amounts);
  for (const [index, { alone }] of states.entries())
    expect(alone).toBe(wanted[index]!.limit.rules.withoutShared);
  const refusing = wanted.findIndex(({ limit }) =>
    ['lease', 'refuse'].includes(limit.rules.withoutShared),
  );
  if (refusing >= 0) expect(refusedAt).toBeLessThanOrEqual(refusing);
  if (refusing >= 0) expect(refusedAt).toBeGreaterThanOrEqual(0);
  if (wanted.every(({ limit }) => limit.rules.withoutShared === 'allow'))
    expect(refusedAt).toBe(-1);
  if (refusedAt >= 0) return;
  const life = world.lives[at]!;
  const holds = states.map((hold, index): ModelHold => {
    const counter = wanted[index]!;
    const epoch = epochAt(counter, world.clock.nowMs).name;
    return { hold, counter, epoch, replica: at, life, isAlone: true, expiresAtMs: 0 };
  });
  for (const each of holds) {
    if (each.counter.limit.type === 'requests')
      world.countedAlone.push({ each, posted: each.hold.held });
    const { limit } = each.counter;
    if (limit.rules.withoutShared !== 'share') continue;
    const ofAll = world.open
      .flat()
      .concat(holds)
      .filter(({ isAlone, counter }) => isAlone && counter === each.counter)
      .filter(({ replica, life: lived }) => world.lives[replica] === lived);
    expect(sum(ofAll, ({ hold }) => hold.held)).toBeLessThanOrEqual(limit.value);
  }
  world.open.push(holds);
}

function exampleCounters(): Counter[] {
  const period = { nextResetAtMs: Date.UTC(2041, 0) };
  return [
    exampleCounter({ value: 5, unit: 'rpm' }),
    exampleCounter({ type: 'tokens', value: 100, unit: 'rpm' }),
    exampleCounter({ type: 'cost', value: 300, period, rules: { withoutShared: 'allow' } }),
    exampleCounter({ type: 'tokens', value: 200, period, rules: { isStrict: true } }),
  ];
}

describe.each([
  ['memory', memoryFleet],
  ['redis', redisFleet],
])('reservations in %s', (_name, openFleet) => {
  it('end once each, and what is used, held and left is the limit, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands(
          [taking, taking, taking, ending, ending, ending, passing, crashing, leaving, comingBack],
          { maxCommands: 40, size: 'max' },
        ),
        async (commands) => {
          const clock = { nowMs: beginningMs };
          const fleet = await openFleet(clock);
          const model = new Model(clock);
          const world: World = {
            clock,
            fleet,
            model,
            counters: exampleCounters(),
            open: [],
            lives: [0, 0, 0],
            isAway: false,
            countedAlone: [],
          };
          try {
            await fc.asyncModelRun(() => ({ model: world, real: world }), commands);
            await comeBack(world);
            await check(world);
            await staysWithinBound(world);
          } finally {
            await fleet.close();
          }
        },
      ),
      { numRuns: runs },
    );
  }, 600_000);
});

/** All that is under way uses what it was estimated to: no counter goes further than was said. */
async function staysWithinBound(world: World): Promise<void> {
  const { fleet, model, counters, open, lives } = world;
  const said = await fleet.store(0).peek('org', counters);
  for (const holds of open.splice(0)) {
    const [{ replica, life } = { replica: 0, life: -1 }] = holds;
    if (lives[replica] !== life) continue;
    const stands = holds.filter((each) => model.of(each.counter, each.epoch).held.has(each));
    fleet.store(replica).end(
      'org',
      stands.map(({ hold }) => ({ hold, actual: hold.held + hold.short })),
    );
  }
  await fleet.settled();
  const ended = await fleet.store(0).peek('org', counters);
  for (const [index, before] of said.entries()) {
    const after = ended[index]!;
    const { limit } = before.counter;
    const told = Number(
      overshootBound(BigInt(limit.value), {
        posted: BigInt(before.posted),
        reserved: BigInt(before.pending),
        beyond: BigInt(before.overshoot),
      }),
    );
    const from = Math.max(limit.value, before.posted + before.pending);
    expect(after.posted - from).toBeLessThanOrEqual(told);
    if (before.overshoot === 0) expect(told).toBe(0);
    // Exact, but for what those held who are gone: nobody says what that came to.
    if (after.posted === before.posted + before.pending + before.overshoot)
      expect(Math.max(0, after.posted - from)).toBe(told);
  }
}
