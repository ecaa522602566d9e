import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { assumedMediaTokens, assumedOutputTokens, estimateTokens } from './estimate-tokens.ts';

const thousand = 'x'.repeat(4000);

describe('estimateTokens', () => {
  it.each<[string, JsonObject]>([
    ['messages', { messages: [{ role: 'user', content: thousand }] }],
    ['parts', { messages: [{ role: 'user', content: [{ type: 'text', text: thousand }] }] }],
    ['a prompt', { prompt: thousand }],
    ['input', { input: [thousand] }],
    ['a system text', { system: thousand, messages: [] }],
    ['tools', { tools: [{ type: 'function', function: { description: thousand } }] }],
    ['token ids', { input: Array.from({ length: 1000 }, (_, index) => index) }],
  ])('counts the text of %s by four characters', (_name, json) => {
    const { inputTokens } = estimateTokens(json);
    expect(inputTokens).toBeGreaterThanOrEqual(1000);
    expect(inputTokens).toBeLessThan(1030);
  });

  it('takes the caller’s own limit of the reply, else assumes one', () => {
    expect(estimateTokens({ max_tokens: 7 }).outputTokens).toBe(7);
    expect(estimateTokens({ max_tokens: 7, max_completion_tokens: 9 }).outputTokens).toBe(9);
    expect(estimateTokens({ max_output_tokens: 5 }).outputTokens).toBe(5);
    const odd: JsonObject[] = [{}, { max_tokens: -1 }, { max_tokens: '7' }, { max_tokens: null }];
    for (const json of odd) expect(estimateTokens(json).outputTokens).toBe(assumedOutputTokens);
  });

  it('counts pictures and files flat', () => {
    const picture = `data:image/png;base64,${'A'.repeat(1_000_000)}`;
    const parts: JsonObject[] = [
      { type: 'image_url', image_url: { url: picture } },
      { type: 'image', source: { type: 'base64', data: 'A'.repeat(1_000_000) } },
      { type: 'input_audio', input_audio: { data: 'A'.repeat(1_000_000), format: 'wav' } },
      { type: 'input_image', image_url: 'https://example.com/cat.png' },
    ];
    for (const part of parts) {
      const { inputTokens } = estimateTokens({ messages: [{ role: 'user', content: [part] }] });
      expect(inputTokens).toBeGreaterThanOrEqual(assumedMediaTokens);
      expect(inputTokens).toBeLessThan(assumedMediaTokens + 50);
    }
  });

  it('does not count what is not read by the model', () => {
    expect(estimateTokens({ metadata: { note: thousand }, user: thousand }).inputTokens).toBe(0);
  });

  it('looks at a bounded number of values', () => {
    const messages = Array.from({ length: 200_000 }, () => ({ content: 'abcd' }));
    expect(estimateTokens({ messages }).inputTokens).toBeLessThan(40_000);
    let deep: JsonObject = {};
    for (let depth = 0; depth < 5000; depth++) deep = { content: [deep] };
    expect(estimateTokens({ messages: [deep] }).inputTokens).toBeLessThan(200);
  });
});
