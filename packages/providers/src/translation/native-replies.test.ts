import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor, okHead } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from './find-translation.ts';

const asked: readonly (readonly [provider: string, endpoint: Endpoint])[] = [
  ['openai', 'chatComplete'],
  ['openai', 'complete'],
  ['openai', 'createModelResponse'],
  ['openai', 'embed'],
  ['openai', 'moderate'],
  ['openai', 'imageGenerate'],
  ['openai', 'imageEdit'],
  ['openai', 'imageVariation'],
  ['anthropic', 'messages'],
];

function decode([id, endpoint]: (typeof asked)[number], reply: string) {
  const provider = findProvider(id)!;
  const call = findTranslation(provider, endpoint);
  expect(call.mode).toBe('native');
  return call.decode(Buffer.from(reply), contextFor(provider), okHead);
}

describe.each(asked)('a good answer of %s to %s', (...call) => {
  it.each([
    '{}',
    '{"id":"x","object":"other"}',
    '{"error":null,"base_resp":{"status_code":0}}',
    '[]',
  ])('goes out as it came where it is JSON of another shape, its usage unknown: %s', (reply) => {
    expect(decode(call, reply)).toEqual({ body: undefined, facts: {} });
  });

  it.each([
    '',
    '<html>oops</html>',
    '{"id":"x","choices":[',
    '{"error":{"message":"no credit"}}',
    '{"error":"model is loading"}',
    '{"object":"error","message":"no"}',
    '{"base_resp":{"status_code":1004,"status_msg":"login fail"}}',
  ])('is none where it is %j', (reply) => {
    expect(() => decode(call, reply)).toThrow(
      expect.objectContaining({ code: 'upstream.invalid_response' }),
    );
  });
});

it('passes a response that tells of its own failure', () => {
  const reply = '{"id":"resp_1","status":"failed","error":{"code":"server_error"},"output":[]}';
  expect(decode(['openai', 'createModelResponse'], reply).facts).toMatchObject({ id: 'resp_1' });
});

it('reads the usage of a response without an output', () => {
  const reply = '{"id":"resp_1","usage":{"input_tokens":7,"output_tokens":2}}';
  expect(decode(['openai', 'createModelResponse'], reply)).toMatchObject({
    body: undefined,
    facts: { id: 'resp_1', usage: { inputTokens: 7, outputTokens: 2 } },
  });
});

it('takes an error that tells usage for an error', () => {
  const reply = '{"error":{"message":"no"},"usage":{"input_tokens":7,"output_tokens":2}}';
  expect(() => decode(['openai', 'createModelResponse'], reply)).toThrow(
    expect.objectContaining({ code: 'upstream.invalid_response' }),
  );
});
