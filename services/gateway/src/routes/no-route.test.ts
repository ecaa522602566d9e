import { expect, it } from 'vitest';
import { noRoute } from './no-route.ts';

it('tells whoever left out /v1 what the path is, and nobody else', () => {
  expect(noRoute('/chat/completions?x=1').message).toContain('/v1/chat/completions: the base URL');
  expect(noRoute('/models/').message).toContain('/v1/models');
  for (const url of ['/', '', '/chat/completion', '//chat/completions', '/v2/models'])
    expect(noRoute(url).message).toBe('No such route.');
});
