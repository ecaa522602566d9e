import { describe, expect, it } from 'vitest';
import { isFinalFault } from './final-faults.ts';

const openAi = (error: object) => JSON.stringify({ error });

describe('isFinalFault', () => {
  it.each([
    ['OpenAI’s context length', 400, openAi({ code: 'context_length_exceeded', message: 'x' })],
    ['Azure’s filter', 400, openAi({ code: 'content_filter', message: 'x' })],
    [
      'Azure’s inner code',
      400,
      openAi({ code: '400', innererror: { code: 'ResponsibleAIPolicyViolation' } }),
    ],
    [
      'Anthropic’s long prompt',
      400,
      JSON.stringify({
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens' },
      }),
    ],
    [
      'vLLM',
      400,
      JSON.stringify({
        object: 'error',
        message: "This model's maximum context length is 4096 tokens.",
      }),
    ],
    ['a code under a server’s status', 500, openAi({ code: 'context_length_exceeded' })],
    ['a detail', 422, JSON.stringify({ detail: 'Input is too long for requested model.' })],
  ])('%s is final', (_name, status, text) => {
    expect(isFinalFault(status, text)).toBe(true);
  });

  it.each([
    ['a rate limit that speaks of context', 429, openAi({ message: 'maximum context length' })],
    ['an ordinary fault', 400, openAi({ code: 'invalid_value', message: 'temperature' })],
    ['a server’s fault', 500, openAi({ message: 'prompt is too long' })],
    ['no JSON', 400, 'prompt is too long'],
    ['an answer', 200, openAi({ code: 'content_filter' })],
  ])('%s is not', (_name, status, text) => {
    expect(isFinalFault(status, text)).toBe(false);
  });
});
