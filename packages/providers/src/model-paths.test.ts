import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { readModelPath } from './model-paths.ts';

describe('readModelPath', () => {
  it.each([
    ['/openai/deployments/prod-4o/chat/completions', 'prod-4o'],
    ['/engines/davinci/completions', 'davinci'],
    ['/v1beta/models/gemini-2.5-pro:streamGenerateContent', 'gemini-2.5-pro'],
    ['/tunedModels/mine:generateContent', 'tunedModels/mine'],
    [
      '/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:generateContent',
      'gemini-2.5-pro',
    ],
    [
      '/v1/projects/p/locations/l/publishers/anthropic/models/claude:rawPredict',
      'anthropic.claude',
    ],
    ['/v1/projects/p/locations/l/endpoints/123:predict', 'endpoints.123'],
    ['/model/us.amazon.nova-lite-v1%3A0/converse-stream', 'us.amazon.nova-lite-v1:0'],
    ['/model/arn%3Aaws%3Abedrock%3Aeu%3A1%3Ax%2Fy/invoke', 'arn:aws:bedrock:eu:1:x/y'],
    ['/endpoints/llama/invocations', 'llama'],
    ['/serving-endpoints/llama/invocations', 'llama'],
    ['/run/@cf/meta/llama-3', '@cf/meta/llama-3'],
    ['/v2/models/bert/versions/1/infer', 'bert'],
    ['/models/meta/llama-3/predictions', 'meta/llama-3'],
    ['/workflows/accounts/fireworks/models/flux/text_to_image', 'accounts/fireworks/models/flux'],
    ['/V1BETA/Models/x:generateContent', 'x'],
    ['/mod%65l/x/converse/', 'x'],
  ])('%s names %s', (path, model) =>
    expect(readModelPath(path)).toMatchObject({
      from: 'path',
      names: expect.arrayContaining([model]),
    }),
  );

  it.each([
    ['/chat/completions', 'body'],
    ['/v1beta/openai/chat/completions', 'body'],
    ['/batches', 'body'],
    ['/messages/batches', 'body'],
    ['/v1/projects/p/locations/l/endpoints/openapi/chat/completions', 'body'],
    ['/listen', 'query'],
    ['/files', 'files'],
    ['/vector_stores/vs/search', 'nobody'],
    ['/fine_tuning/jobs/j/cancel', 'nobody'],
  ])('%s leaves it to the %s', (path, from) =>
    expect(readModelPath(path)).toMatchObject({ from, names: [] }),
  );

  it.each([
    '/',
    '/chat/completions/x',
    '/tenant/chat/completions',
    '/models/x',
    '/model%2Fx/converse',
    '/model/%2578/converse',
    '/model/x\\y/converse',
    '/model/%zz/converse',
    '/model//converse',
    '/deployments/a/deployments/b/chat/completions',
    '/filesystem',
  ])('%s says nothing that all would read alike', (path) =>
    expect(readModelPath(path)).toBeUndefined(),
  );

  it('takes time by the length of the path', () => {
    for (const piece of ['/openai', '/v1', '/run/', '/workflows/', '/%41', '/x:']) {
      const spentMs = ownTime();
      readModelPath(piece.repeat(8_000));
      expect(spentMs(), piece).toBeLessThan(100);
    }
  });
});
