import type { Endpoint, JsonObject } from '@sluice/contracts';
import { expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from './find-translation.ts';

function encoded(provider: string, endpoint: Endpoint, body: JsonObject) {
  const entry = findProvider(provider)!;
  const messages = [{ role: 'user', content: 'Hi' }];
  return findTranslation(entry, endpoint).encode({ messages, ...body }, contextFor(entry));
}

it('lowers a limit beyond what the model is known to say, and names it', () => {
  const gemini = { model: 'gemini-2.5-pro', max_tokens: 128_000 };
  expect(encoded('google', 'chatComplete', gemini)).toMatchObject({
    body: { generationConfig: { maxOutputTokens: 65_536 } },
    dropped: ['max_tokens'],
  });
  expect(encoded('openai', 'messages', { model: 'gpt-6', max_tokens: 200_000 })).toMatchObject({
    body: { max_completion_tokens: 128_000 },
    dropped: ['max_tokens'],
  });
  const claude = { model: 'claude-sonnet-4-5', max_tokens: 128_000 };
  expect(encoded('anthropic', 'chatComplete', claude)).toMatchObject({
    body: { max_tokens: 64_000 },
    dropped: ['max_tokens'],
  });
});

it('leaves one alone that the model may say, or of a model that nobody knows', () => {
  for (const model of ['gemini-2.5-pro', 'gemini-unheard-of'])
    expect(encoded('google', 'chatComplete', { model, max_tokens: 65_536 }).dropped).toEqual([]);
  const unknown = { model: 'somebody', max_tokens: 900_000 };
  expect(encoded('google', 'chatComplete', unknown)).toMatchObject({
    body: { generationConfig: { maxOutputTokens: 900_000 } },
    dropped: [],
  });
});
