import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Awaiting, DeadlineLine, deadlineLine } from './deadlines.ts';

function waiting(onLate: (at: number) => void): Awaiting {
  return {
    older: undefined,
    newer: undefined,
    dueAt: 0,
    onLate: () => onLate(performance.now()),
  };
}

describe.each([
  ['one that others share', true],
  ['one of its own', false],
])('a line of deadlines: %s', (_name, isShared) => {
  it('tells each when its own time is over, never before, and who left not at all', async () => {
    const line = new DeadlineLine(60, isShared);
    const told: string[] = [];
    const early: string[] = [];
    const begun = new Map<string, number>();
    const enter = (name: string) => {
      const item = waiting((at) => {
        told.push(name);
        if (at - (begun.get(name) ?? 0) < 60) early.push(name);
      });
      begun.set(name, performance.now());
      line.add(item);
      return item;
    };
    const first = enter('first');
    await delay(20);
    enter('second');
    line.delete(first);
    await delay(20);
    enter('third');
    await expect.poll(() => told).toEqual(['second', 'third']);
    expect(early).toEqual([]);
    // Nobody stood in it for a while.
    enter('last');
    await expect.poll(() => told).toEqual(['second', 'third', 'last']);
    expect(early).toEqual([]);
  });

  it('begins the time of one anew', async () => {
    const line = new DeadlineLine(60, isShared);
    let lateAt = 0;
    const item = waiting((at) => (lateAt = at));
    line.add(item);
    await delay(40);
    const refreshedAt = performance.now();
    line.refresh(item);
    await expect.poll(() => lateAt).toBeGreaterThan(0);
    expect(lateAt - refreshedAt).toBeGreaterThanOrEqual(60);
  });

  it('takes back who is told, at the end', async () => {
    const line = new DeadlineLine(0, isShared);
    let told = 0;
    const item = waiting(() => {
      told++;
      if (told < 3) line.refresh(item);
    });
    line.add(item);
    await expect.poll(() => told).toBe(3);
    await delay(10);
    expect(told).toBe(3);
  });
});

it('few lengths share a line; whatever else callers name ends with who waits', () => {
  expect(deadlineLine(123_456)).toBe(deadlineLine(123_456));
  for (let ms = 200_000; ms < 200_100; ms++) deadlineLine(ms);
  expect(deadlineLine(200_099)).not.toBe(deadlineLine(200_099));
  expect(deadlineLine(123_456)).toBe(deadlineLine(123_456));
});
