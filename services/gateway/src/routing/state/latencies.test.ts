import { describe, expect, it } from 'vitest';
import { Latencies } from './latencies.ts';

function setUp(entriesMax?: number) {
  const clock = { nowMs: 5000 };
  return { clock, latencies: new Latencies({ entriesMax, now: () => clock.nowMs }) };
}

describe('Latencies', () => {
  it('know nothing of a target before its first answer', () => {
    const { latencies } = setUp();
    expect(latencies.averageMs('config', 'a')).toBeUndefined();
    latencies.begin('config', 'a');
    expect(latencies.averageMs('config', 'a')).toBeUndefined();
    expect(latencies.size).toBe(0);
  });

  it('keep the targets of configs apart', () => {
    const { latencies } = setUp();
    latencies.observe('one', 'a', 100);
    latencies.observe('two', 'a', 300);
    latencies.observe('one', 'b', 700);
    expect(latencies.averageMs('one', 'a')).toBe(100);
    expect(latencies.averageMs('two', 'a')).toBe(300);
    expect(latencies.averageMs('one', 'b')).toBe(700);
  });

  it('weigh measurements of the same moment alike', () => {
    const { latencies } = setUp();
    for (const ms of [100, 200, 600]) latencies.observe('config', 'a', ms);
    expect(latencies.averageMs('config', 'a')).toBe(300);
  });

  it('count a measurement half after 10 s', () => {
    const { clock, latencies } = setUp();
    latencies.observe('config', 'a', 400);
    clock.nowMs += 10_000;
    latencies.observe('config', 'a', 100);
    expect(latencies.averageMs('config', 'a')).toBeCloseTo((400 * 0.5 + 100) / 1.5, 6);
  });

  it('follow a target that becomes slow within seconds, even after thousands of fast answers', () => {
    const { clock, latencies } = setUp();
    for (let call = 0; call < 5000; call++) {
      latencies.observe('config', 'a', 50);
      clock.nowMs += 10;
    }
    for (let call = 0; call < 1000; call++) {
      latencies.observe('config', 'a', 1000);
      clock.nowMs += 10;
    }
    expect(latencies.averageMs('config', 'a')).toBeGreaterThan(500);
  });

  it('count a failure as 10 s', () => {
    const { latencies } = setUp();
    latencies.observe('config', 'a', 100);
    latencies.fail('config', 'a');
    expect(latencies.averageMs('config', 'a')).toBe((100 + 10_000) / 2);
    latencies.fail('config', 'never-answered');
    expect(latencies.averageMs('config', 'never-answered')).toBe(10_000);
  });

  it('let an unused slow target look faster until it is tried again, the slower the later', () => {
    const { clock, latencies } = setUp();
    latencies.observe('config', 'slow', 800);
    latencies.observe('config', 'slower', 1600);
    const preferredAfterMs: Record<string, number> = {};
    for (let seconds = 0; seconds < 300; seconds++) {
      clock.nowMs += 1000;
      latencies.observe('config', 'fast', 200);
      for (const path of ['slow', 'slower'])
        if ((latencies.averageMs('config', path) ?? 0) < 200)
          preferredAfterMs[path] ??= (seconds + 1) * 1000;
    }
    // Two and three half-lives of 30 s.
    expect(preferredAfterMs).toEqual({ slow: 61_000, slower: 91_000 });
  });

  it('send one request to a faded target, not all until its answer', () => {
    const { clock, latencies } = setUp();
    latencies.observe('config', 'slow', 800);
    clock.nowMs += 90_000;
    expect(latencies.averageMs('config', 'slow')).toBe(100);
    latencies.begin('config', 'slow');
    expect(latencies.averageMs('config', 'slow')).toBe(800);
  });

  it('forget a target after 5 min without a call', () => {
    const { clock, latencies } = setUp();
    latencies.observe('config', 'a', 100);
    clock.nowMs += 299_999;
    expect(latencies.averageMs('config', 'a')).toBeGreaterThan(0);
    clock.nowMs += 1;
    expect(latencies.averageMs('config', 'a')).toBeUndefined();
  });

  it('hold no more than the cap, the most recent ones', () => {
    const { latencies } = setUp(100);
    for (let target = 0; target < 10_000; target++) latencies.observe('config', `t${target}`, 5);
    expect(latencies.size).toBe(100);
    expect(latencies.averageMs('config', 't9999')).toBe(5);
    expect(latencies.averageMs('config', 't0')).toBeUndefined();
  });
});
