import type { Counter } from '@sluice/engine';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChangedCounter } from './limit-store.ts';
import { type CounterReport, CounterReporter } from './report-counters.ts';

const counter = (kind: Counter['limit']['holder']['kind'], group: string): Counter => ({
  limit: {
    id: 'limit-1',
    holder: { kind, name: 'x', workspaceId: 'ws-1' },
    type: 'cost',
    value: 100,
    span: {
      kind: 'budget',
      period: {
        generation: 0,
        startedAtMs: 0,
        nextResetAtMs: 0,
        cadence: '',
        days: 0,
        weeksBeginOnSunday: false,
      },
    },
    rules: {
      isShadow: false,
      isStrict: false,
      estimatesByObserved: false,
      withoutShared: 'lease',
      refusesUnpriced: false,
    },
  },
  group,
  reset: undefined,
  entity: 'x',
});

const changed = (
  name: string,
  posted: number,
  change: { kind?: 'token' | 'policy'; isOverflow?: boolean; group?: string } = {},
): ChangedCounter => ({
  scope: 'org-1',
  state: {
    counter: counter(change.kind ?? 'policy', change.group ?? name),
    epoch: { name: '1.5' },
    name,
    posted,
    pending: 3,
    overshoot: 2,
    countedAtUs: 7,
    isOverflow: change.isOverflow ?? false,
  },
});

/** A store whose changes are written by hand, and a control plane that may be away. */
function setUp() {
  let waiting: ChangedCounter[] = [];
  const sent: CounterReport[][] = [];
  const errors: unknown[] = [];
  const plane = { isAway: false, answers: Promise.resolve(), onSend: () => {} };
  const reporter = new CounterReporter({
    changedCounters: (max) => waiting.splice(0, max),
    async send(counters) {
      if (plane.isAway) throw new Error('away');
      sent.push([...counters]);
      plane.onSend();
      await plane.answers;
    },
    onError: (error) => errors.push(error),
  });
  return {
    reporter,
    plane,
    sent,
    errors,
    change: (...counters: ChangedCounter[]) => {
      waiting = [...waiting, ...counters];
    },
    amounts: () => sent.map((batch) => batch.map(({ group, posted }) => `${group}=${posted}`)),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the report of counters', () => {
  it('tells each second what changed, and nothing where nothing did', async () => {
    const { reporter, change, sent, amounts } = setUp();
    reporter.start();
    change(changed('a', 5), changed('b', 7.4));
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent[0]?.[0]).toEqual({
      organisationId: 'org-1',
      workspaceId: 'ws-1',
      limitId: 'limit-1',
      group: 'a',
      epoch: '1.5',
      posted: 5n,
      reserved: 3n,
      overshootBound: 2n,
      countedAtUs: 7n,
    });
    await vi.advanceTimersByTimeAsync(5_000);
    change(changed('b', 9));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(amounts()).toEqual([['a=5', 'b=7'], ['b=9']]);
    await reporter.stop();
    expect(sent).toHaveLength(2);
  });

  it('that fails is told again, once, as it stands then', async () => {
    const { reporter, plane, change, amounts, errors } = setUp();
    reporter.start();
    plane.isAway = true;
    change(changed('a', 1), changed('b', 1));
    await vi.advanceTimersByTimeAsync(3_000);
    change(changed('a', 2));
    await vi.advanceTimersByTimeAsync(3_000);
    plane.isAway = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(amounts()).toEqual([['a=2', 'b=1']]);
    expect(errors).toHaveLength(1);
    await reporter.stop();
  });

  it('waits for the one before, and keeps what changed meanwhile', async () => {
    const { reporter, plane, change, amounts } = setUp();
    const { promise, resolve } = Promise.withResolvers<void>();
    plane.answers = promise;
    reporter.start();
    change(changed('a', 1));
    await vi.advanceTimersByTimeAsync(1_000);
    change(changed('a', 2));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(amounts()).toEqual([['a=1']]);
    resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(amounts()).toEqual([['a=1'], ['a=2']]);
    await reporter.stop();
  });

  it('is one call a second, however often a budget changes', async () => {
    const { reporter, plane, change, sent } = setUp();
    reporter.start();
    let posted = 0;
    // As requests do that come while the control plane answers.
    plane.onSend = () => change(changed('a', ++posted));
    plane.onSend();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent).toHaveLength(10);
    expect(sent.at(-1)?.[0]?.posted).toBe(BigInt(posted - 1));
    await reporter.stop();
  });

  it('comes in calls of a thousand, and leaves nothing behind when it stops', async () => {
    const { reporter, change, sent } = setUp();
    reporter.start();
    change(...Array.from({ length: 2_500 }, (_, index) => changed(`group-${index}`, index)));
    await reporter.stop();
    expect(sent.map((batch) => batch.length)).toEqual([1_000, 1_000, 500]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(sent).toHaveLength(3);
  });

  it('names the groups that count together, and says nothing of tokens', async () => {
    const { reporter, change, amounts } = setUp();
    change(
      changed('a', 1, { isOverflow: true, group: 'metadata._user:a' }),
      changed('b', 1, { kind: 'token' }),
    );
    await reporter.stop();
    expect(amounts()).toEqual([['*=1']]);
  });
});
