import { type Endpoint, operations, type StreamableFormat } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { assembleStream, type JsonObject } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import {
  deniedReply,
  hookResultsItem,
  softFailureStatus,
  statusWithHooks,
  withHookResults,
} from './guardrail-replies.ts';
import type { HookResult } from './hook-results.ts';
import type { DeniedRequest } from './soft-denial.ts';

const ran: HookResult = {
  id: 'h',
  type: 'guardrail',
  verdict: false,
  transformed: false,
  checks: [],
  feedback: null,
  execution_time: 0,
  async: false,
  created_at: '2030-01-01T00:00:00.000Z',
  deny: true,
};
const skipped: HookResult = { id: 's', type: 'guardrail', skipped: true };

describe('statusWithHooks', () => {
  it.each([
    [200, false, 200],
    [200, true, softFailureStatus],
    [429, true, 429],
    [500, true, 500],
    [201, true, 201],
  ])('of upstream %i, failed: %s is %i', (upstream, failed, expected) => {
    expect(statusWithHooks(upstream, failed)).toBe(expected);
  });
});

describe('withHookResults', () => {
  const results = { before_request_hooks: [ran], after_request_hooks: [skipped] };
  const told = (text: string) =>
    withHookResults(Buffer.from(text), JSON.parse(text), [ran], [skipped]).toString();

  it.each([
    ['{}', '{', '}'],
    [' { } \n', ' { ', '} \n'],
    ['{"id":"x","at":1.50}', '{"id":"x","at":1.50,', '}'],
    ['{\n  "a}": [ {} ]\n}\n', '{\n  "a}": [ {} ]\n,', '}\n'],
    ['{"a":1,"a":2}', '{"a":1,"a":2,', '}'],
  ])('adds both lists behind what %j has, and changes nothing else', (text, before, after) => {
    expect(told(text)).toBe(`${before}"hook_results":${JSON.stringify(results)}${after}`);
  });

  it('tells ours where the provider tells its own', () => {
    const text = '{"hook_results":{"a":{}},"id":1.0,"hook_results":2}';
    expect(JSON.parse(told(text))).toEqual({ id: 1, hook_results: results });
  });

  it('leaves a body alone when no hook ran', () => {
    const bytes = Buffer.from('{"id":"x"}');
    expect(withHookResults(bytes, { id: 'x' }, [], [skipped])).toBe(bytes);
  });
});

function denied(endpoint: Endpoint, given: Partial<DeniedRequest> = {}): DeniedRequest {
  return {
    endpoint,
    errors: operations[endpoint].errors,
    requestId: 'r',
    model: 'm',
    wantsStream: false,
    asksForUsage: false,
    isStrict: true,
    nowMs: 1_000,
    ...given,
  };
}

describe('deniedReply', () => {
  const read = (endpoint: 'chatComplete' | 'messages') => {
    const reply = deniedReply(denied(endpoint), [ran], []);
    return { ...reply, body: JSON.parse(reply.body.toString()) };
  };
  const results = { before_request_hooks: [ran], after_request_hooks: [] };

  it('is a 446 in OpenAI’s shape', () => {
    expect(read('chatComplete')).toMatchObject({
      kind: 'body',
      status: 446,
      headers: { 'content-type': 'application/json' },
      body: {
        error: {
          message: expect.stringContaining('hook_results'),
          type: 'hooks_failed',
          param: null,
          code: null,
        },
        hook_results: results,
        request_id: 'r',
      },
    });
  });

  it('is a 446 in Anthropic’s shape for messages', () => {
    expect(read('messages')).toMatchObject({
      status: 446,
      body: {
        type: 'error',
        error: { type: 'hooks_failed', message: expect.stringContaining('hook_results') },
        hook_results: results,
      },
    });
  });
});

describe('a soft denial', () => {
  const soft: HookResult = { ...ran, soft_deny_200: true };
  const text = new GatewayError('guardrail.denied').message;
  const withText: [StreamableFormat, Endpoint, (body: JsonObject) => unknown][] = [
    ['openai-chat', 'chatComplete', ({ choices }) => choices],
    ['openai-completions', 'complete', ({ choices }) => choices],
    ['anthropic-messages', 'messages', ({ content }) => content],
    ['openai-responses', 'createModelResponse', ({ output }) => output],
  ];

  it.each(withText)(
    'is an answer of %s that says so, as JSON and as a stream',
    (format, endpoint, saidBy) => {
      const reply = deniedReply(denied(endpoint), [soft], []);
      const body = JSON.parse(reply.body.toString());
      expect([reply.status, reply.isDenial]).toEqual([200, true]);
      expect(JSON.stringify(saidBy(body))).toContain(text);
      expect(body).toMatchObject({
        model: 'm',
        hook_results: { before_request_hooks: [soft], after_request_hooks: [] },
      });
      const stream = deniedReply(denied(endpoint, { wantsStream: true }), [soft], []);
      expect(stream).toMatchObject({
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
      });
      const { hook_results: _, ...answer } = body;
      const told = assembleStream(format, stream.body);
      expect(saidBy(told ?? {})).toEqual(saidBy(answer));
      expect(stream.body.toString()).not.toContain('hook_results"');
    },
  );

  it('tells its results in a stream that may have items of ours', () => {
    const asked = denied('chatComplete', { wantsStream: true, isStrict: false });
    const [first] = deniedReply(asked, [soft], []).body.toString().split('\n\n');
    expect(JSON.parse(first?.slice(6) ?? '')).toEqual({
      hook_results: { before_request_hooks: [soft] },
    });
  });

  it('is none beside a hard one, and where answers are no texts', () => {
    expect(deniedReply(denied('chatComplete'), [soft, ran], []).status).toBe(446);
    expect(deniedReply(denied('chatComplete'), [soft], [ran]).status).toBe(446);
    for (const endpoint of ['embed', 'imageGenerate', 'proxy'] as const)
      expect(deniedReply(denied(endpoint), [soft], []).status).toBe(446);
  });
});

describe('hookResultsItem', () => {
  it('is an event without a name for OpenAI’s formats', () => {
    expect(hookResultsItem('chatComplete', 'before_request_hooks', [ran])?.toString()).toBe(
      `data: ${JSON.stringify({ hook_results: { before_request_hooks: [ran] } })}\n\n`,
    );
  });

  it('is a named event for messages and responses', () => {
    for (const endpoint of ['messages', 'createModelResponse'] as const)
      expect(hookResultsItem(endpoint, 'after_request_hooks', [ran])?.toString()).toBe(
        `event: hook_results\ndata: ${JSON.stringify({ hook_results: { after_request_hooks: [ran] } })}\n\n`,
      );
  });

  it('is nothing when no hook ran', () => {
    expect(hookResultsItem('messages', 'after_request_hooks', [skipped])).toBeUndefined();
  });
});
