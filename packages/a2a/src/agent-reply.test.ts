import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAgentReply, ToldSoFar } from './agent-reply.ts';
import { increaseOf, readUsage } from './usage.ts';

const openAi = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const counted = { inputTokens: 10, outputTokens: 5 };
const told = (...values: unknown[]) => {
  const all = new ToldSoFar();
  for (const value of values) all.add(readAgentReply(value));
  return all;
};
const result = (value: unknown) => ({ jsonrpc: '2.0', id: 1, result: value });

describe('readAgentReply', () => {
  it('knows task, context and state of either generation and binding', () => {
    const status = { state: 'working' };
    for (const value of [
      result({ kind: 'task', id: 't', contextId: 'c', status }),
      result({ kind: 'status-update', taskId: 't', contextId: 'c', status, final: false }),
      result({ task: { id: 't', contextId: 'c', status } }),
      result({ statusUpdate: { taskId: 't', contextId: 'c', status } }),
      { task: { id: 't', context_id: 'c', status } },
      { status_update: { task_id: 't', context_id: 'c', status } },
      { id: 't', contextId: 'c', status },
    ])
      expect(readAgentReply(value), JSON.stringify(value)).toMatchObject({
        taskId: 't',
        contextId: 'c',
        state: 'working',
      });
    const message = { messageId: 'm', taskId: 't', contextId: 'c', role: 'agent', parts: [] };
    for (const value of [
      result({ kind: 'message', ...message }),
      result({ message }),
      { msg: message },
    ])
      expect(readAgentReply(value)).toMatchObject({
        taskId: 't',
        contextId: 'c',
        state: undefined,
      });
    expect(readAgentReply({ jsonrpc: '2.0', id: 1, error: { code: -32001 } }).errorCode).toBe(
      -32001,
    );
    expect(readAgentReply({ error: { code: 404 } }).errorCode).toBe(404);
  });

  it('finds usage in every place where agents put it', () => {
    const google = {
      promptTokenCount: 10,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 2,
      cachedContentTokenCount: 4,
      totalTokenCount: 15,
    };
    const status = { state: 'completed' };
    for (const value of [
      result({ id: 't', status, metadata: { usage: openAi } }),
      result({ id: 't', status, metadata: { usage: { inputTokens: 10, outputTokens: 5 } } }),
      result({ task: { id: 't', status, metadata: { adk_usage_metadata: google } } }),
      result({
        statusUpdate: { taskId: 't', status, metadata: { kagent_usage_metadata: google } },
      }),
      result({ artifactUpdate: { taskId: 't', artifact: {}, metadata: { usage: openAi } } }),
      result({
        artifactUpdate: { taskId: 't', artifact: { artifactId: 'a', metadata: { usage: openAi } } },
      }),
      result({
        id: 't',
        status: { state: 'x', message: { messageId: 'm', metadata: { usage: openAi } } },
      }),
      result({ id: 't', status, metadata: { 'https://example.com/ext/usage': openAi } }),
      result({
        id: 't',
        status,
        metadata: { 'https://example.com/ext/usage/v1': { usage: openAi } },
      }),
      result({
        message: { messageId: 'm', role: 'agent', parts: [], metadata: { usage: openAi } },
      }),
      { choices: [], usage: openAi },
      { type: 'response.completed', response: { usage: { input_tokens: 10, output_tokens: 5 } } },
    ])
      expect(told(value).usage, JSON.stringify(value)).toMatchObject(counted);
    expect(told({ choices: [], usage: openAi, model: 'm-1' }).usage?.model).toBe('m-1');
  });

  it('takes what is said of the task over its messages, replaces what is told again, ignores history', () => {
    const usage = (n: number) => ({ usage: { input_tokens: n, output_tokens: n } });
    const update = (n: number) =>
      result({
        kind: 'status-update',
        taskId: 't',
        status: { state: 'working' },
        metadata: usage(n),
      });
    const message = (id: string, n: number) =>
      result({ kind: 'message', role: 'agent', parts: [], messageId: id, metadata: usage(n) });
    expect(told(update(1), update(5), update(9)).usage).toMatchObject({ inputTokens: 9 });
    expect(told(message('a', 1), message('b', 2), message('b', 2)).usage).toMatchObject({
      inputTokens: 3,
    });
    expect(told(message('a', 100), update(7)).usage).toMatchObject({ inputTokens: 7 });
    const history = [{ role: 'agent', parts: [], metadata: usage(50) }];
    expect(told(result({ id: 't', status: {}, history })).usage).toBeUndefined();
  });

  it('puts the two halves of a stream of messages together', () => {
    expect(
      told(
        {
          type: 'message_start',
          message: { usage: { input_tokens: 10, cache_read_input_tokens: 2, output_tokens: 1 } },
        },
        { type: 'message_delta', usage: { output_tokens: 5 } },
      ).usage,
    ).toMatchObject({ inputTokens: 12, outputTokens: 5, cachedTokens: 2 });
  });

  it('bills the increase only, and takes no count that is none', () => {
    const now = readUsage(openAi);
    expect(now && increaseOf(now, now)).toMatchObject({ inputTokens: 0, outputTokens: 0 });
    const none = { inputTokens: 0, outputTokens: 0, isImplausible: true };
    expect(readUsage({ prompt_tokens: -1, completion_tokens: 1e30 })).toMatchObject(none);
    expect(readUsage({ prompt_tokens: '10' })).toMatchObject(none);
    expect(readUsage({ input_tokens: 3, output_tokens: 4, total_tokens: 9 })).toMatchObject({
      inputTokens: 3,
      outputTokens: 6,
    });
    expect(readUsage({ total_tokens: 9 })).toMatchObject({ inputTokens: 9, outputTokens: 0 });
  });

  it('reads whatever is told without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        told(one, result(other), { task: one, usage: other });
      }),
      { numRuns: 500 },
    );
  });
});
