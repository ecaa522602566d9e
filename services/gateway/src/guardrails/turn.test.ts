import { expect, it } from 'vitest';
import { asking, exampleCheck, exampleHook, exampleTools } from './example-hooks.ts';
import { runHooks } from './run-hooks.ts';

/** Keeps the event loop for so long. */
function busy(ms: number) {
  return () => {
    const until = performance.now() + ms;
    while (performance.now() < until);
    return { verdict: true, data: {} };
  };
}

it('many slow checks leave others a turn between them', async () => {
  const checks = Array.from({ length: 20 }, () => exampleCheck('test.busy'));
  const tools = exampleTools({ 'test.busy': busy(25) });
  let longest = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const run = await runHooks([exampleHook({ checks })], asking('a'), tools);
  clearInterval(watch);
  expect(run.failed).toBe(false);
  // All in one turn would be 500 ms.
  expect(longest).toBeLessThan(250);
});

it('checks that come after the time of their request is spent could not decide', async () => {
  const checks = Array.from({ length: 60 }, () => exampleCheck('test.busy'));
  const tools = exampleTools({ 'test.busy': busy(25) });
  const startedAt = performance.now();
  const { results } = await runHooks([exampleHook({ checks })], asking('a'), tools);
  const [hook] = results as unknown as [{ checks: { error?: { name: string } }[] }];
  const late = hook.checks.filter(({ error }) => error?.name === 'TimeSpent');
  expect(late.length).toBeGreaterThan(10);
  expect(performance.now() - startedAt).toBeLessThan(4000);
});
