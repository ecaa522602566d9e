import { expect, it } from 'vitest';
import { shortForm } from './instants.ts';
import { runAt } from './run-at.ts';

it('what is computed from dates holds at the instant at which it once did not', {
  timeout: 120_000,
}, () => {
  const { passed, output } = runAt(shortForm.instant, shortForm.suites);
  expect(passed, output).toBe(true);
});
