import { join } from 'node:path';
import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { dialectCases } from '../../../test/dialect-cases.ts';
import { contextFor } from '../../../test/fixtures.ts';
import { baseUrlOf, pathOf } from '../../address.ts';
import { authHeaders } from '../../auth-headers.ts';
import type { JsonObject } from '../../contract.ts';
import { findTranslation } from '../../translation/find-translation.ts';
import { google } from './index.ts';

const folder = join(import.meta.dirname, 'fixtures');

function addressOf(endpoint: Endpoint, model: string, stream = false): string {
  const facts = { model, stream, setting: () => undefined };
  const { entry } = findTranslation(google, endpoint, facts);
  return baseUrlOf(google, entry, facts) + pathOf(entry, facts);
}

describe('addresses', () => {
  const host = 'https://generativelanguage.googleapis.com';
  it.each([
    ['chatComplete', 'gemini-2.5-flash', false, '/v1beta/models/gemini-2.5-flash:generateContent'],
    [
      'chatComplete',
      'models/gemini-2.5-flash',
      true,
      '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    ],
    ['messages', 'tunedModels/mine-1', false, '/v1beta/tunedModels/mine-1:generateContent'],
    [
      'embed',
      'gemini-embedding-001',
      false,
      '/v1beta/models/gemini-embedding-001:batchEmbedContents',
    ],
    ['messagesCountTokens', 'gemini-2.5-pro', false, '/v1beta/models/gemini-2.5-pro:countTokens'],
    ['listModels', '', false, '/v1beta/models'],
    [
      'chatComplete',
      'a/../b?c#d:e f',
      false,
      '/v1beta/models/a%2F..%2Fb%3Fc%23d%3Ae%20f:generateContent',
    ],
    ['chatComplete', 'models/x/y', false, '/v1beta/models/x%2Fy:generateContent'],
  ] as [Endpoint, string, boolean, string][])(
    '%s of %s, streamed %s',
    (endpoint, model, stream, path) => {
      expect(addressOf(endpoint, model, stream)).toBe(host + path);
    },
  );

  it.each(['', '.', '..', 'models/..'])('has none for the model %j', (model) => {
    expect(() => addressOf('chatComplete', model)).toThrow(
      expect.objectContaining({ field: 'body.model' }),
    );
  });

  it('keeps the key in a header', () => {
    expect(authHeaders(google, { apiKey: 'AIza', configurations: {} }, {})).toEqual({
      'x-goog-api-key': 'AIza',
    });
  });
});

describe('dialects', () => {
  for (const name of ['embeddings', 'count-tokens', 'models']) dialectCases('google', folder, name);

  it.each([
    [{ input: [[1, 2]] }, 'body.input[0]'],
    [{ input: [] }, 'body.input'],
    [{}, 'body.input'],
  ] as [JsonObject, string][])('refuses embeddings of %j', (body, field) => {
    const call = findTranslation(google, 'embed');
    expect(() => call.encode(body, contextFor(google, true, { request: body }))).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });

  it('tells of errors in the caller’s words', () => {
    const error = Buffer.from(
      '{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}',
    );
    const told = (endpoint: Endpoint) =>
      JSON.parse(
        String(findTranslation(google, endpoint).decodeError(429, error, contextFor(google)).body),
      );
    expect(told('embed')).toEqual({
      error: {
        message: 'google error: quota',
        type: 'RESOURCE_EXHAUSTED',
        param: null,
        code: '429',
      },
      provider: 'google',
    });
    expect(told('messagesCountTokens')).toEqual({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'google error: quota' },
      provider: 'google',
    });
  });
});
