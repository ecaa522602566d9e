import { describe, expect, it } from 'vitest';
import { finalFaultOf } from './final-faults.ts';

const openAi = (error: object) => JSON.stringify({ error });

describe('finalFaultOf', () => {
  it.each([
    ['OpenAI’s context length', 400, openAi({ code: 'context_length_exceeded', message: 'x' })],
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
  ])('%s tells of too long a context', (_name, status, text) => {
    expect(finalFaultOf(status, text)).toBe('context-length');
  });

  it.each([
    ['Azure’s filter', 400, openAi({ code: 'content_filter', message: 'x' })],
    [
      'Azure’s inner code',
      400,
      openAi({ code: '400', innererror: { code: 'ResponsibleAIPolicyViolation' } }),
    ],
    ['OpenAI’s images', 400, openAi({ code: 'moderation_blocked', message: 'x' })],
    ['DashScope’s inspection', 400, openAi({ code: 'data_inspection_failed', message: 'x' })],
    ['Claude', 400, openAi({ message: 'Output blocked by content filtering policy' })],
    ['DeepSeek', 400, openAi({ type: 'invalid_request_error', message: 'Content Exists Risk' })],
  ])('%s tells of a content filter', (_name, status, text) => {
    expect(finalFaultOf(status, text)).toBe('content-filter');
  });

  it.each([
    ['a rate limit that speaks of context', 429, openAi({ message: 'maximum context length' })],
    ['an ordinary fault', 400, openAi({ code: 'invalid_value', message: 'temperature' })],
    ['a server’s fault', 500, openAi({ message: 'prompt is too long' })],
    ['no JSON', 400, 'prompt is too long'],
    ['an answer', 200, openAi({ code: 'content_filter' })],
    ['a server that speaks of content', 500, openAi({ message: 'content policy' })],
  ])('%s is not final', (_name, status, text) => {
    expect(finalFaultOf(status, text)).toBeUndefined();
  });
});
