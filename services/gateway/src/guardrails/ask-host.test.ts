import { CheckError, type CheckFunction } from '@sluice/guardrails';
import { describe, expect, it, vi } from 'vitest';
import { forwarded } from './ask-host.ts';
import type { Asking } from './asking.ts';
import { CheckCompiler } from './check-compiler.ts';
import { exampleCheck, exampleContext, exampleHook } from './example-hooks.ts';
import { runHook } from './run-hook.ts';

/** A check that may wait so long. */
function runOne(run: CheckFunction, fetch: Asking['fetch'], deadlineMs = 50, given = {}) {
  const kinds = new Map([
    [
      'test.ask',
      { id: 'test.ask', judges: 'texts' as const, compile: () => ({ run, deadlineMs }) },
    ],
  ]);
  const compiler = new CheckCompiler(kinds, () => {});
  const hook = exampleHook({ deny: true, checks: [exampleCheck('test.ask')], ...given });
  return runHook(hook, exampleContext({ headers: { 'x-tenant': 't', cookie: 'c' } }), {
    compiler,
    checkDeadlineMs: 1_000,
    fetch,
    undecided: { decided: () => {}, undecided: () => {} },
  });
}

const asking: CheckFunction = async ({ ask }) => {
  const { status } = await ask({
    url: 'https://partner.test/check',
    headers: { Authorization: 'Bearer own', 'X-Tenant': 'own' },
    body: { text: 'hello' },
    forwardHeaders: ['x-tenant', 'cookie', 'traceparent'],
  });
  return { verdict: status === 200, data: {} };
};
const answer = { status: 200, headers: {}, body: Buffer.alloc(0) };

describe('a check that asks a host', () => {
  it('asks in the name of whoever wrote it, within its time; what it says wins over what is forwarded', async () => {
    const fetch = vi.fn<Asking['fetch']>().mockResolvedValue(answer);
    const { result } = await runOne(asking, fetch, 50, { by: 'caller' });
    expect(result).toMatchObject({ verdict: true, checks: [{ verdict: true }] });
    expect(fetch).toHaveBeenCalledWith('https://partner.test/check', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer own',
        'x-tenant': 'own',
      },
      body: '{"text":"hello"}',
      timeoutMs: 50,
      bytesMax: 1024 * 1024,
      by: 'caller',
      owner: 'workspace-1',
      signal: expect.any(AbortSignal),
    });
  });

  it('could not decide when its time is over, and what it waited for is ended', async () => {
    let signal: AbortSignal | undefined;
    const { result } = await runOne(
      asking,
      (_url, question) => {
        signal = question.signal;
        return new Promise(() => {});
      },
      5,
    );
    expect(result).toMatchObject({
      verdict: true,
      deny: false,
      checks: [{ verdict: false, error: { name: 'DeadlineExceeded' } }],
    });
    expect(signal?.aborted).toBe(true);
  });

  it('says nothing of an address, nor of ours, when nobody answers', async () => {
    const fetch = () => Promise.reject(new Error('connect ECONNREFUSED 10.1.2.3:443 ?key=secret'));
    const { result } = await runOne(asking, fetch);
    expect(result.checks[0]?.error).toEqual({
      name: 'HostFailed',
      message: 'The host could not be asked, or gave no whole answer.',
    });
  });

  it('has results of a bounded size', async () => {
    const long: CheckFunction = () => ({ verdict: true, data: { found: 'x'.repeat(100_000) } });
    const { result } = await runOne(long, () => Promise.resolve(answer));
    expect(JSON.stringify(result.checks[0]?.data).length).toBeLessThan(200);
  });
});

describe('a fault of an enforced guardrail', () => {
  it.each([
    ['TextTooLong', false],
    ['Unreadable', false],
    ['TimeSpent', false],
    ['HostFailed', true],
    ['DeadlineExceeded', true],
    ['NothingToCheck', true],
  ] as const)('that is %s passes: %s', async (name, passes) => {
    const throwing: CheckFunction = () => {
      throw new CheckError(name, 'said so');
    };
    const ask = () => Promise.resolve(answer);
    const enforced = await runOne(throwing, ask, 50, { isEnforced: true });
    expect(enforced.result).toMatchObject({ verdict: passes, deny: !passes });
    expect((await runOne(throwing, ask)).result.verdict).toBe(true);
  });
});

describe('forwarded', () => {
  const trace = '0123456789abcdef0123456789abcdef';
  const headers = {
    'x-a': 'a',
    authorization: 'b',
    'x-api-key': 'k',
    'x-service-api-key': 's',
    'x-service-trace-id': 't',
  };

  it('takes what is named, but nothing that speaks for the caller', () => {
    const names = [...Object.keys(headers), 'X-A', 'x-*', 'host', 'absent'];
    expect(forwarded({ headers, traceId: trace }, names)).toEqual({
      'x-a': 'a',
      'x-service-trace-id': 't',
    });
  });

  it('makes a traceparent of a trace id where none was sent', () => {
    expect(forwarded({ headers: {}, traceId: trace }, ['traceparent'])).toEqual({
      traceparent: `00-${trace}-0123456789abcdef-01`,
    });
    expect(forwarded({ headers: {}, traceId: 'mine' }, ['traceparent'])).toEqual({});
    expect(forwarded({ headers: { traceparent: 'x' }, traceId: trace }, ['traceparent'])).toEqual({
      traceparent: 'x',
    });
  });
});
