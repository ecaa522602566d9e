import type { CheckFunction, CheckOutcome } from '@sluice/guardrails';
import { describe, expect, it } from 'vitest';
import { type AsyncHookReport, BackgroundHooks } from './background-hooks.ts';
import {
  exampleCheck,
  exampleContext,
  exampleHook,
  exampleTools,
  fixedChecks,
} from './example-hooks.ts';

function start(more: Record<string, CheckFunction> = {}, limits = {}) {
  const reports: AsyncHookReport[] = [];
  let heard: (() => void) | undefined;
  const background = new BackgroundHooks(
    exampleTools({ ...fixedChecks, ...more }),
    { runningMax: 2, hookDeadlineMs: 1_000, ...limits },
    (report) => {
      reports.push(report);
      heard?.();
    },
  );
  const next = () => new Promise<void>((resolve) => (heard = resolve));
  return { background, reports, next };
}

const hook = (id: string) => exampleHook({ id, async: true, checks: [exampleCheck(id)] });

describe('BackgroundHooks', () => {
  it('runs a hook after the request went on, and reports', async () => {
    let hasRun = false;
    const { background, reports, next } = start({
      'test.slow': async () => {
        hasRun = true;
        return { verdict: false, data: {} };
      },
    });
    background.start(hook('test.slow'), exampleContext());
    await Promise.resolve();
    expect(hasRun).toBe(false);
    await next();
    expect(reports).toMatchObject([
      {
        context: expect.objectContaining({ requestId: 'request-1', event: 'beforeRequest' }),
        hookId: 'test.slow',
        lostTo: undefined,
        result: { verdict: false, async: true },
      },
    ]);
  });

  it('goes on when the caller has left', async () => {
    const signals: boolean[] = [];
    const { background, next } = start({
      'test.signal': ({ signal }) => {
        signals.push(signal.aborted);
        return { verdict: true, data: {} };
      },
    });
    background.start(hook('test.signal'), exampleContext({ signal: AbortSignal.abort() }));
    await next();
    expect(signals).toEqual([false]);
  });

  it('gives up on a hook beyond its deadline', async () => {
    const { background, reports, next } = start(
      { 'test.never': () => new Promise<CheckOutcome>(() => {}) },
      { hookDeadlineMs: 5 },
    );
    background.start(hook('test.never'), exampleContext());
    await next();
    expect(reports).toMatchObject([{ lostTo: 'deadline', result: undefined }]);
  });

  it('refuses more than its cap, and has room again when some are done', async () => {
    const release: (() => void)[] = [];
    const { background, reports, next } = start({
      'test.held': () =>
        new Promise<CheckOutcome>((resolve) => {
          release.push(() => resolve({ verdict: true, data: {} }));
        }),
    });
    for (let count = 0; count < 3; count++) background.start(hook('test.held'), exampleContext());
    expect(reports).toMatchObject([{ lostTo: 'capacity' }]);
    await new Promise((resolve) => setImmediate(resolve));
    release[0]?.();
    await next();
    background.start(hook('test.pass'), exampleContext());
    await next();
    expect(reports.map(({ hookId, lostTo }) => [hookId, lostTo])).toEqual([
      ['test.held', 'capacity'],
      ['test.held', undefined],
      ['test.pass', undefined],
    ]);
    release[1]?.();
    await next();
  });
});
