import { expect, it } from 'vitest';
import { noRoute } from './no-route.ts';

it('tells whoever left out /v1 what the path is, and nobody else', () => {
  expect(noRoute('/chat/completions?x=1').message).toContain('/v1/chat/completions: the base URL');
  expect(noRoute('/models/').message).toContain('/v1/models');
  for (const url of [
    '/model/amazon.nova-lite-v1%3A0/converse-stream',
    '/models/gemini-3-pro-preview:generateContent',
    '/projects/p/locations/us-east5/publishers/anthropic/models/claude-opus-5-5:streamRawPredict',
  ])
    expect(noRoute(url).message).toBe(
      `No such route. The path is /v1${url}: the base URL of clients ends in /v1.`,
    );
  for (const url of ['/', '', '/chat/completion', '//chat/completions', '/v2/models', '/model/mcp'])
    expect(noRoute(url).message).toBe('No such route.');
});
