import { describe, expect, it } from 'vitest';
import {
  deniedReply,
  hookResultsItem,
  softFailureStatus,
  statusWithHooks,
  withHookResults,
} from './guardrail-replies.ts';
import type { HookResult } from './hook-results.ts';

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
  it('adds both lists beside what the body has, skipped hooks included', () => {
    const body = { id: 'x' };
    expect(withHookResults(body, [ran], [skipped])).toEqual({
      id: 'x',
      hook_results: { before_request_hooks: [ran], after_request_hooks: [skipped] },
    });
    expect(body).toEqual({ id: 'x' });
  });

  it('leaves a body alone when no hook ran', () => {
    const body = { id: 'x' };
    expect(withHookResults(body, [], [skipped])).toBe(body);
  });
});

describe('deniedReply', () => {
  const read = (endpoint: 'chatComplete' | 'messages') => {
    const reply = deniedReply(endpoint, 'r', [ran], []);
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
