import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { continuedRequest, isContinuable } from './continued-request.ts';

const told = 'word '.repeat(80);
const asked = { messages: [{ role: 'user', content: 'Go' }], input: 'Go' };

function restOf(format: Parameters<typeof continuedRequest>[0], body: JsonObject, way = 'prefill') {
  return continuedRequest(format, { ...asked, ...body }, told, way as 'prefill' | 'instruction');
}

describe('a request for the rest of an answer', () => {
  it.each([
    ['openai-chat', 'max_tokens'],
    ['openai-chat', 'max_completion_tokens'],
    ['anthropic-messages', 'max_tokens'],
    ['openai-responses', 'max_output_tokens'],
  ] as const)('allows what %s left of %s', (format, name) => {
    expect(restOf(format, { [name]: 1000 })[name]).toBe(920);
    // In words some of it is said again.
    expect(restOf(format, { [name]: 1000 }, 'instruction')[name]).toBe(960);
    // The least that every vendor takes.
    expect(restOf(format, { [name]: 90 })[name]).toBe(16);
    expect(restOf(format, {})).not.toHaveProperty(name);
  });

  it('leaves room for a thought and something to say after it', () => {
    const thinking = { type: 'enabled', budget_tokens: 2000 };
    const body = { max_tokens: 2050, thinking };
    expect(restOf('anthropic-messages', body, 'instruction')).toMatchObject({
      max_tokens: 2056,
      thinking,
    });
    expect(restOf('anthropic-messages', body)).toMatchObject({ max_tokens: 1970 });
  });

  it('is made of requests for one answer in words alone', () => {
    expect(isContinuable('openai-chat', { n: 1 })).toBe(true);
    expect(isContinuable('openai-chat', { n: 2 })).toBe(false);
    expect(isContinuable('openai-chat', { modalities: ['text', 'audio'] })).toBe(false);
    expect(isContinuable('openai-completions', {})).toBe(false);
  });
});
