import { describe, expect, it } from 'vitest';
import { operations } from './operations.ts';
import { errorsOf, vendorErrorsAt, vendorTarget } from './vendor-paths.ts';

describe('vendorErrorsAt', () => {
  it.each([
    ['/v1/v1beta/models/gemini-3-pro-preview:generateContent', 'google'],
    ['/v1/proxy/v1beta/models/gemini-3-pro-preview:streamGenerateContent', 'google'],
    ['/v1/models/gemini-3-pro-preview:countTokens', 'google'],
    ['/v1/v1beta/tunedModels/mine:generateContent', 'google'],
    ['/v1/v1beta/interactions', 'google'],
    ['/v1/v1beta/files/a', 'google'],
    ['/v1/proxy/upload/v1beta/files', 'google'],
    ['/v1beta/nothing/there', 'google'],
    ['/v1/v1beta1/publishers/google/models/gemini-2.5-flash:generateContent', 'google'],
    ['/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:predict', 'google'],
    [
      '/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-5-5:rawPredict',
      'anthropic',
    ],
    ['/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict', 'anthropic'],
    ['/v1/projects/p/locations/l/publishers/mistralai/models/codestral:rawPredict', 'openai'],
    ['/v1/v1beta1/projects/p/locations/l/endpoints/openapi/chat/completions', 'openai'],
    ['/v1/v1beta/openai/chat/completions', 'openai'],
    ['/v1/proxy/v1/messages', 'anthropic'],
    ['/v1/model/amazon.nova-lite-v1%3A0/converse', 'bedrock'],
    [
      '/v1/proxy/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aprompt-router%2Fmine/invoke',
      'bedrock',
    ],
    ['/v1/model/us.anthropic.claude-opus-5-5/invoke-with-response-stream', 'bedrock'],
    ['/v1/guardrail/g/version/1/apply', 'bedrock'],
    ['/v1/models/gpt-4o', undefined],
    ['/v1/files/file-1', undefined],
    ['/v1/model/mine', undefined],
    ['/v1/anything', undefined],
  ])('of %s is %s', (pathname, shape) => {
    expect(vendorErrorsAt(pathname)).toBe(shape);
  });
});

it('what passes through is told by its path, all else by its row', () => {
  const native = '/v1/v1beta/models/gemini-3-pro-preview:generateContent';
  expect(errorsOf(operations.proxy, native)).toBe('google');
  expect(errorsOf(operations.proxy, '/v1/anything')).toBe('openai');
  expect(errorsOf(operations.retrieveFile, '/v1/v1beta/files/a')).toBe('google');
  expect(errorsOf(operations.retrieveMessageBatch, '/v1/messages/batches/b')).toBe('anthropic');
  expect(errorsOf(operations.chatComplete, '/v1/chat/completions')).toBe('openai');
});

it('serves vendors’ paths at the root below /v1, and takes none of anybody else’s', () => {
  for (const path of [
    '/v1beta/models',
    '/v1alpha/auth_tokens',
    '/v1beta1/projects/p',
    '/models/gemini-3-pro-preview:generateContent',
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aprompt-router%2Fmine/invoke',
    '/projects/p/locations/l/publishers/anthropic/models/claude-opus-5-5:streamRawPredict',
    '/projects/p/locations/l/endpoints/openapi/chat/completions',
    '/openai/deployments/gpt-4o/chat/completions?api-version=2025-04-01-preview',
    '/v2/chat',
    '/v2/rerank',
  ])
    expect(vendorTarget(path), path).toBe(`/v1${path}`);
  for (const path of [
    '/v1/models',
    '/v2/servers',
    '/v0.1/servers',
    '/vertex/mcp',
    '/v1betamax/mcp',
    '/models/gpt-4o',
    '/model/mcp',
    '/projects/server/mcp',
    '/openai/v1',
    '/openai/v1/api-keys',
    '/openai/v1/mcp',
    '/openai/deployments/gpt-4o',
    '/chat/completions',
    '/messages',
  ])
    expect(vendorTarget(path), path).toBeUndefined();
});

it.each(['chat/completions', 'models', 'models/a?b=c', 'files/file-1/content', 'batches?limit=1'])(
  'serves /openai/v1/%s as its own',
  (path) => {
    expect(vendorTarget(`/openai/v1/${path}`)).toBe(`/v1/${path}`);
  },
);
