import type { Endpoint } from '@sluice/contracts';
import type { Hook } from '@sluice/engine';
import { createLogger, type Logger } from '@sluice/telemetry';
import { describe, expect, it } from 'vitest';
import type { AsyncHookReport } from './background-hooks.ts';
import { answering, asking, exampleCheck, exampleContext, exampleHook } from './example-hooks.ts';
import { Guardrails } from './guardrails.ts';

const silent = createLogger({ service: 'test', level: 'silent' });

const denies = exampleHook({
  id: 'denies',
  deny: true,
  checks: [exampleCheck('default.contains', { words: ['ok'], operator: 'any' })],
});

const before = (...hooks: Hook[]) => ({
  own: { beforeRequest: hooks, afterRequest: [] },
  enforced: undefined,
});
const after = (...hooks: Hook[]) => ({
  own: { beforeRequest: [], afterRequest: hooks },
  enforced: undefined,
});

const fetch = () => Promise.reject(new Error('nobody answers'));

describe('Guardrails', () => {
  const guardrails = new Guardrails({ logger: silent, fetch });

  it('is silent where a target has no hooks', () => {
    expect(guardrails.before(undefined, asking('x'))).toBeUndefined();
    expect(guardrails.before(after(denies), asking('x'))).toBeUndefined();
    expect(guardrails.after(undefined, answering('x'))).toBeUndefined();
    expect(guardrails.after(before(denies), answering('x'))).toBeUndefined();
  });

  it.each([
    ['chatComplete', { messages: [{ role: 'user', content: 'x' }] }, true, true],
    ['messages', { messages: [{ role: 'user', content: 'x' }] }, true, true],
    ['complete', { prompt: 'x' }, true, true],
    ['embed', { input: 'x' }, true, false],
    ['proxy', { input: 'x' }, false, false],
    ['listModels', {}, false, false],
  ] as [Endpoint, Record<string, string>, boolean, boolean][])(
    'checks what §7.2 names of %s',
    async (endpoint, request, input, output) => {
      const response = {
        choices: [{ text: 'x', message: { content: 'x' } }],
        content: [{ type: 'text', text: 'x' }],
      };
      const context = exampleContext({ endpoint, request, response, status: 200 });
      expect((await guardrails.before(before(denies), context))?.denied).toBe(input || undefined);
      expect((await guardrails.after(after(denies), context))?.denied).toBe(output || undefined);
    },
  );

  it('of a passed-through call checks its type, and nothing else', async () => {
    const checks = [
      ...denies.checks,
      exampleCheck('default.allowedRequestTypes', { blockedTypes: ['proxy'] }),
    ];
    const hooks = before({ ...denies, id: 'types', checks }, denies);
    const context = exampleContext({ endpoint: 'proxy', request: {} });
    const run = await guardrails.before(hooks, context);
    expect(run?.denied).toBe(true);
    expect(run?.results).toMatchObject([
      { id: 'types', checks: [{ id: 'default.allowedRequestTypes' }] },
    ]);
  });

  it('lists hooks after a failed answer as skipped', async () => {
    const run = await guardrails.after(after(denies), { ...answering('x'), status: 500 });
    expect(run).toMatchObject({
      failed: false,
      denied: false,
      results: [{ id: 'denies', type: 'guardrail', skipped: true }],
    });
  });

  it.each(['beforeRequest', 'afterRequest'] as const)(
    'does not wait for an async hook of %s, even when it is the only one',
    async (event) => {
      let heard: (report: AsyncHookReport) => void = () => {};
      const report = new Promise<AsyncHookReport>((resolve) => (heard = resolve));
      const own = new Guardrails({ logger: silent, fetch, onAsyncResult: (given) => heard(given) });
      const hook = { ...denies, async: true };
      const pending =
        event === 'beforeRequest'
          ? own.before(before(hook), asking('x'))
          : own.after(after(hook), answering('x'));
      expect(pending).toBeUndefined();
      expect(await report).toMatchObject({
        context: { event },
        hookId: 'denies',
        result: { verdict: false },
      });
    },
  );

  it('runs no async hook on a failed answer', async () => {
    const reports: AsyncHookReport[] = [];
    const own = new Guardrails({
      logger: silent,
      fetch,
      onAsyncResult: (given) => reports.push(given),
    });
    const hook = { ...denies, async: true };
    const run = await own.after(after(hook), { ...answering('x'), status: 500 });
    expect(run?.results).toMatchObject([{ skipped: true }]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reports).toEqual([]);
  });

  it('tells what hooks think of a trace, also of those that nobody waits for', async () => {
    const told: object[] = [];
    let done: () => void = () => {};
    const wasTold = new Promise<void>((resolve) => (done = resolve));
    const own = new Guardrails({
      logger: silent,
      fetch,
      onFeedback: (feedback) => told.push(feedback),
      onAsyncResult: () => done(),
    });
    const onFail = { value: -5, weight: 0.5, metadata: { by: 'a' } };
    await own.before(before({ ...denies, onFail }), asking('x'));
    expect(told).toEqual([
      {
        organisationId: 'organisation-1',
        workspaceId: 'workspace-1',
        traceId: 'trace-1',
        value: -5,
        weight: 0.5,
        metadata: expect.objectContaining({ by: 'a', failedChecks: expect.any(String) }),
      },
    ]);
    own.before(before({ ...denies, async: true, onFail }), asking('x'));
    await wasTold;
    expect(told).toHaveLength(2);
  });

  it('tells of each check that could not decide, by the name of its error', async () => {
    const errors: string[] = [];
    const own = new Guardrails({
      logger: silent,
      fetch,
      onCheckError: (name) => errors.push(name),
    });
    const service = { apiKey: 'k', baseURL: 'https://guardrails.test' };
    const gibberish = exampleCheck('service.gibberish', { credentials: service });
    await own.before(before(exampleHook({ checks: [gibberish] })), asking('x'));
    await own.before(before(denies), asking('x'));
    expect(errors).toEqual(['HostFailed']);
  });

  it('a listener that throws harms nobody', async () => {
    let told: (() => void) | undefined;
    const wasTold = new Promise<void>((resolve) => (told = resolve));
    const logger = { info() {}, warn() {}, error: () => told?.() } as unknown as Logger;
    const own = new Guardrails({
      logger,
      fetch,
      onAsyncResult: () => {
        throw new Error('broken listener');
      },
    });
    own.before(before({ ...denies, async: true }), asking('x'));
    await wasTold;
  });

  it('says once in the log that a check cannot run', async () => {
    const lines: object[] = [];
    const logger = { warn: (fields: object) => lines.push(fields) } as unknown as Logger;
    const own = new Guardrails({ logger, fetch });
    for (let round = 0; round < 3; round++)
      await own.before(
        before(exampleHook({ checks: [exampleCheck('nobody.knows')] })),
        asking('x'),
      );
    expect(lines).toEqual([{ check_id: 'nobody.knows', error: expect.any(String) }]);
  });
});
