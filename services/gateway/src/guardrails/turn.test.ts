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
  // Five times as many would spend the time of their request.
  const checks = Array.from({ length: 10 }, () => exampleCheck('test.busy'));
  const tools = exampleTools({ 'test.busy': busy(25) });
  let turns = 0;
  let isOver = false;
  const watch = () => {
    turns++;
    if (!isOver) setImmediate(watch);
  };
  setImmediate(watch);
  const run = await runHooks([exampleHook({ checks })], asking('a'), tools);
  isOver = true;
  expect(run.failed).toBe(false);
  // Each takes longer than all may in one turn.
  expect(turns).toBeGreaterThanOrEqual(checks.length - 1);
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
