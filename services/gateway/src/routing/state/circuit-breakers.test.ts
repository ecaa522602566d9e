import type { BreakerRule } from '@sluice/engine';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CircuitBreakers } from './circuit-breakers.ts';

const startMs = 1_800_000_000_000;

function rule(over: Partial<BreakerRule> = {}): BreakerRule {
  return {
    failureThreshold: 2,
    failurePercentage: undefined,
    minimumRequests: 0,
    cooldownMs: 30_000,
    failureStatusCodes: undefined,
    ...over,
  };
}

function setUp(entriesMax?: number) {
  const clock = { nowMs: startMs };
  const breakers = new CircuitBreakers({ now: () => clock.nowMs, entriesMax });
  const fail = (path: string, times: number, by = rule()) => {
    for (let call = 0; call < times; call++) breakers.report('config', path, by, true);
  };
  const open = () => [...(breakers.openTargets('config') ?? [])];
  return { clock, breakers, fail, open };
}

describe('CircuitBreakers', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('open when more calls than the threshold failed, at that report', () => {
    const { breakers, fail, open } = setUp();
    fail('a', 2);
    expect(open()).toEqual([]);
    fail('a', 1);
    expect(open()).toEqual(['a']);
    expect(breakers.openings).toBe(1);
  });

  it('open by rate once the minimum of requests is made, also when the last one succeeded', () => {
    const { breakers, fail, open } = setUp();
    const byRate = rule({
      failureThreshold: undefined,
      failurePercentage: 50,
      minimumRequests: 10,
    });
    for (let call = 0; call < 3; call++) breakers.report('config', 'a', byRate, false);
    fail('a', 6, byRate);
    expect(open()).toEqual([]);
    breakers.report('config', 'a', byRate, false);
    expect(open()).toEqual(['a']);
  });

  it('stay closed at exactly the percentage', () => {
    const { breakers, fail, open } = setUp();
    const byRate = rule({ failureThreshold: undefined, failurePercentage: 50, minimumRequests: 2 });
    for (let pair = 0; pair < 20; pair++) {
      breakers.report('config', 'a', byRate, false);
      fail('a', 1, byRate);
    }
    expect(open()).toEqual([]);
  });

  it('do not add up failures that are a cooldown apart', () => {
    const { clock, fail, open } = setUp();
    for (let round = 0; round < 20; round++) {
      fail('a', 2);
      clock.nowMs += 30_000;
    }
    expect(open()).toEqual([]);
  });

  it('keep configs and targets apart', () => {
    const { breakers, fail, open } = setUp();
    fail('a', 3);
    expect(breakers.openTargets('other')).toBeUndefined();
    fail('b', 3);
    expect(open()).toEqual(['a', 'b']);
  });

  it('leave a target out for the cooldown, not for a millisecond more', () => {
    const { clock, breakers, fail, open } = setUp();
    fail('a', 3);
    clock.nowMs += 29_999;
    expect(open()).toEqual(['a']);
    clock.nowMs += 1;
    expect(breakers.openTargets('config')).toBeUndefined();
  });

  it('let one call try after the cooldown, and the others wait for it', () => {
    const { clock, breakers, fail, open } = setUp();
    fail('a', 3);
    clock.nowMs += 30_000;
    breakers.begin('config', 'a');
    expect(open()).toEqual(['a']);
    breakers.report('config', 'a', rule(), false);
    expect(open()).toEqual([]);
    expect(breakers.openCount).toBe(0);
  });

  it('let the next call try when the first ended without saying anything', () => {
    const { clock, breakers, fail, open } = setUp();
    fail('a', 3);
    clock.nowMs += 30_000;
    expect([breakers.begin('config', 'a'), breakers.begin('config', 'a')]).toEqual([true, false]);
    expect(open()).toEqual(['a']);
    breakers.abandon('config', 'a');
    expect(open()).toEqual([]);
    expect(breakers.begin('config', 'a')).toBe(true);
  });

  it('count anew after the try succeeded', () => {
    const { clock, breakers, fail, open } = setUp();
    fail('a', 3);
    clock.nowMs += 30_000;
    breakers.begin('config', 'a');
    breakers.report('config', 'a', rule(), false);
    fail('a', 2);
    expect(open()).toEqual([]);
    fail('a', 1);
    expect(open()).toEqual(['a']);
  });

  it('stay open for another cooldown when the try failed', () => {
    const { clock, breakers, fail, open } = setUp();
    fail('a', 3);
    clock.nowMs += 31_000;
    breakers.begin('config', 'a');
    clock.nowMs += 500;
    fail('a', 1);
    clock.nowMs += 29_999;
    expect(open()).toEqual(['a']);
    clock.nowMs += 1;
    expect(open()).toEqual([]);
  });

  it.each([
    [30_000, 30_000],
    [600_000, 60_000],
  ])(
    'with a cooldown of %i ms, give up on a try without a report after %i ms',
    (cooldownMs, deadlineMs) => {
      const { clock, breakers, fail, open } = setUp();
      const by = rule({ cooldownMs });
      fail('a', 3, by);
      clock.nowMs += cooldownMs;
      breakers.begin('config', 'a');
      clock.nowMs += deadlineMs - 1;
      breakers.begin('config', 'a');
      expect(open()).toEqual(['a']);
      clock.nowMs += 1;
      expect(open()).toEqual([]);
      breakers.begin('config', 'a');
      expect(open()).toEqual(['a']);
      breakers.report('config', 'a', by, false);
      expect(open()).toEqual([]);
    },
  );

  it('are not moved by calls that end while the circuit is open', () => {
    const { clock, breakers, fail, open } = setUp();
    fail('a', 3);
    clock.nowMs += 20_000;
    breakers.begin('config', 'a');
    breakers.report('config', 'a', rule(), false);
    fail('a', 10);
    clock.nowMs += 9_999;
    expect(open()).toEqual(['a']);
    clock.nowMs += 1;
    expect(open()).toEqual([]);
  });

  it('forget a half-open circuit that nobody tries for an hour', () => {
    const { clock, breakers, fail } = setUp();
    fail('a', 3);
    clock.nowMs += 30_000 + 3_599_999;
    expect(breakers.list()).toMatchObject([{ path: 'a', phase: 'half-open' }]);
    clock.nowMs += 1;
    expect(breakers.list()).toEqual([]);
    fail('a', 1);
    expect(breakers.list()).toMatchObject([{ path: 'a', phase: 'closed', failures: 1 }]);
    expect(breakers.openCount).toBe(0);
  });

  it('list counts, phases and the end of the cooldown', () => {
    const { clock, breakers, fail } = setUp();
    fail('a', 3);
    clock.nowMs += 1000;
    breakers.report('config', 'b', rule(), true);
    breakers.report('config', 'b', rule(), false);
    breakers.report('other', 'c', rule(), true);
    expect(breakers.list('config')).toEqual([
      {
        configId: 'config',
        path: 'a',
        phase: 'open',
        failures: 3,
        successes: 0,
        openedAtMs: startMs,
        closesAtMs: startMs + 30_000,
      },
      {
        configId: 'config',
        path: 'b',
        phase: 'closed',
        failures: 1,
        successes: 1,
        openedAtMs: 0,
        closesAtMs: 0,
      },
    ]);
    expect(breakers.list().map((state) => state.path)).toEqual(['a', 'b', 'c']);
  });

  it('hold nothing of targets that never fail where only failures matter', () => {
    const { breakers } = setUp();
    for (let target = 0; target < 1000; target++) {
      breakers.begin('config', `t${target}`);
      breakers.report('config', `t${target}`, rule(), false);
    }
    expect(breakers.size).toBe(0);
  });

  it('hold no more circuits than the cap, and forget an open one with its entry', () => {
    const { breakers, fail, open } = setUp(100);
    fail('first', 3);
    for (let target = 0; target < 10_000; target++) fail(`t${target}`, 1);
    expect(breakers.size).toBe(100);
    expect(open()).toEqual([]);
    expect(breakers.openCount).toBe(0);
  });

  it('forget an open circuit after an hour, and not while a call tries it', () => {
    const { clock, breakers, fail, open } = setUp();
    fail('a', 3);
    clock.nowMs += 30_000 + 3_600_000 - 1;
    expect(breakers.begin('config', 'a')).toBe(true);
    clock.nowMs += 29_999;
    expect(open()).toEqual(['a']);
    expect(breakers.list('config')).toMatchObject([{ path: 'a', phase: 'half-open' }]);
    // Its end decides.
    breakers.report('config', 'a', rule(), true);
    expect(breakers.list('config')).toMatchObject([{ path: 'a', phase: 'open' }]);
  });

  it('free the memory of targets that nobody calls any more', async () => {
    vi.useFakeTimers();
    const { clock, breakers, fail } = setUp();
    breakers.start();
    for (let target = 0; target < 20_000; target++) fail(`t${target}`, target % 2 === 0 ? 1 : 3);
    expect(breakers.size).toBe(20_000);
    clock.nowMs += 30_000;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(breakers.size).toBe(10_000);
    clock.nowMs += 3_600_000;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(breakers.size).toBe(0);
    expect(breakers.openCount).toBe(0);
    await breakers.close();
  });

  it('answer for a config with 10,000 open targets without looking at each again', () => {
    const { clock, breakers, fail } = setUp();
    for (let target = 0; target < 10_000; target++) fail(`t${target}`, 3);
    const first = breakers.openTargets('config');
    expect(first?.size).toBe(10_000);
    clock.nowMs += 29_999;
    expect(breakers.openTargets('config')).toBe(first);
    clock.nowMs += 1;
    expect(breakers.openTargets('config')).toBeUndefined();
  });

  it('do what a naive model does, over any sequence of calls and time', () => {
    const paths = fc.constantFrom('a', 'b');
    const steps = fc.array(
      fc.oneof(
        { weight: 2, arbitrary: fc.record({ do: fc.constant('begin' as const), path: paths }) },
        {
          weight: 5,
          arbitrary: fc.record({
            do: fc.constant('report' as const),
            path: paths,
            failed: fc.boolean(),
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            do: fc.constant('wait' as const),
            ms: fc.constantFrom(1, 999, 10_000, 29_999, 30_000, 30_001, 61_000, 3_600_000),
          }),
        },
      ),
      { maxLength: 120 },
    );
    const rules = fc.record({
      failureThreshold: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      failurePercentage: fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined }),
      minimumRequests: fc.integer({ min: 0, max: 6 }),
      cooldownMs: fc.constantFrom(30_000, 90_000),
      failureStatusCodes: fc.constant(undefined),
    });
    fc.assert(
      fc.property(rules, steps, (by, sequence) => {
        const { clock, breakers, open } = setUp();
        const models = { a: new NaiveCircuit(by), b: new NaiveCircuit(by) };
        for (const step of sequence) {
          if (step.do === 'wait') clock.nowMs += step.ms;
          if (step.do === 'begin') {
            breakers.begin('config', step.path);
            models[step.path as 'a' | 'b'].begin(clock.nowMs);
          }
          if (step.do === 'report') {
            breakers.report('config', step.path, by, step.failed);
            models[step.path as 'a' | 'b'].report(clock.nowMs, step.failed);
          }
          const expected = (['a', 'b'] as const).filter((path) => models[path].isOut(clock.nowMs));
          expect(open().sort()).toEqual(expected);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** Remembers every call and works out the rest anew each time. */
class NaiveCircuit {
  readonly #by: BreakerRule;
  #calls: { atMs: number; failed: boolean }[] = [];
  #openUntilMs: number | undefined;
  #triedAtMs: number | undefined;

  constructor(by: BreakerRule) {
    this.#by = by;
  }

  begin(nowMs: number): void {
    this.#forget(nowMs);
    if (this.#openUntilMs === undefined || nowMs < this.#openUntilMs) return;
    if (!this.#isTried(nowMs)) this.#triedAtMs = nowMs;
  }

  report(nowMs: number, failed: boolean): void {
    this.#forget(nowMs);
    if (this.#openUntilMs !== undefined) {
      if (nowMs >= this.#openUntilMs)
        this.#become(failed ? nowMs + this.#by.cooldownMs : undefined);
      return;
    }
    const [first] = this.#calls;
    if (first !== undefined && nowMs >= first.atMs + this.#by.cooldownMs) this.#calls = [];
    const { failureThreshold, failurePercentage, minimumRequests } = this.#by;
    if (this.#calls.length === 0 && !failed && failurePercentage === undefined) return;
    this.#calls.push({ atMs: nowMs, failed });
    const failures = this.#calls.filter((call) => call.failed).length;
    const isOverThreshold = failureThreshold !== undefined && failures > failureThreshold;
    const isOverRate =
      failurePercentage !== undefined &&
      this.#calls.length >= minimumRequests &&
      (100 * failures) / this.#calls.length > failurePercentage;
    if (isOverThreshold || isOverRate) this.#become(nowMs + this.#by.cooldownMs);
  }

  isOut(nowMs: number): boolean {
    this.#forget(nowMs);
    return this.#openUntilMs !== undefined && (nowMs < this.#openUntilMs || this.#isTried(nowMs));
  }

  #isTried(nowMs: number): boolean {
    const deadlineMs = Math.min(this.#by.cooldownMs, 60_000);
    return this.#triedAtMs !== undefined && nowMs < this.#triedAtMs + deadlineMs;
  }

  #become(openUntilMs: number | undefined): void {
    this.#openUntilMs = openUntilMs;
    this.#triedAtMs = undefined;
    this.#calls = [];
  }

  #forget(nowMs: number): void {
    if (this.#openUntilMs === undefined || this.#isTried(nowMs)) return;
    if (nowMs >= this.#openUntilMs + 3_600_000) this.#become(undefined);
  }
}
