import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { cpuMs, ownTime, slowness } from './own-time.ts';

it('counts what this thread does, not what it waits for', async () => {
  const waitedMs = ownTime();
  await delay(300);
  expect(waitedMs()).toBeLessThan(150);
  const workedMs = ownTime();
  for (const until = cpuMs() + 300; cpuMs() < until; ) Math.random();
  expect(workedMs()).toBeGreaterThanOrEqual(300 / slowness() / 2);
});

it('never takes a quick machine for a slow one', () => {
  expect(slowness()).toBeGreaterThanOrEqual(1);
});
