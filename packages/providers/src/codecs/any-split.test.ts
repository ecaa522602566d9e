import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextFor, fixtures, play } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import type { ProviderEntry } from '../contract.ts';
import { findTranslation } from '../translation/find-translation.ts';

/** Offers responses alone, as some models do. */
const responsesOnly: ProviderEntry = {
  ...findProvider('openai')!,
  endpoints: { createModelResponse: findProvider('openai')!.endpoints.createModelResponse! },
};

const ways = [
  { name: 'chat, native', provider: 'openai', endpoint: 'chatComplete', format: 'openai-chat' },
  {
    name: 'messages, native',
    provider: 'anthropic',
    endpoint: 'messages',
    format: 'anthropic-messages',
  },
  {
    name: 'chat from Anthropic',
    provider: 'anthropic',
    endpoint: 'chatComplete',
    format: 'anthropic-messages',
  },
  { name: 'chat from Gemini', provider: 'google', endpoint: 'chatComplete', format: 'gemini' },
  { name: 'messages from Gemini', provider: 'google', endpoint: 'messages', format: 'gemini' },
  { name: 'messages from OpenAI', provider: 'openai', endpoint: 'messages', format: 'openai-chat' },
  {
    name: 'responses, native',
    provider: 'openai',
    endpoint: 'createModelResponse',
    format: 'openai-responses',
  },
  {
    name: 'responses from chat',
    provider: 'z-ai',
    endpoint: 'createModelResponse',
    format: 'openai-chat',
  },
  {
    name: 'responses from Anthropic',
    provider: 'anthropic',
    endpoint: 'createModelResponse',
    format: 'anthropic-messages',
  },
  {
    name: 'chat from responses',
    provider: responsesOnly,
    endpoint: 'chatComplete',
    format: 'openai-responses',
  },
  {
    name: 'messages from responses',
    provider: responsesOnly,
    endpoint: 'messages',
    format: 'openai-responses',
  },
  { name: 'chat from Cohere', provider: 'cohere', endpoint: 'chatComplete', format: 'cohere-chat' },
  { name: 'messages from Oracle', provider: 'oracle', endpoint: 'messages', format: 'oci-chat' },
  {
    name: 'completions from Anthropic',
    provider: 'anthropic',
    endpoint: 'complete',
    format: 'anthropic-messages',
  },
] as const;

const entryOf = (provider: string | ProviderEntry): ProviderEntry =>
  typeof provider === 'string' ? findProvider(provider)! : provider;

describe('any split of a stream’s bytes gives the same bytes and the same facts', () => {
  for (const { name, provider, endpoint, format } of ways) {
    const entry = entryOf(provider);
    const streams = fixtures(format, 'stream');

    it(name, () => {
      const open = (strict: boolean) =>
        findTranslation(entry, endpoint).openStream(contextFor(entry, strict), { model: 'm' });
      fc.assert(
        fc.property(
          fc.constantFrom(...streams),
          fc.boolean(),
          fc.array(fc.nat(), { maxLength: 40 }),
          (fixture, strict, positions) => {
            const cuts = positions.map((position) => position % fixture.bytes.length);
            const whole = play(open(strict), fixture.bytes, []);
            const cut = play(open(strict), fixture.bytes, cuts);
            expect(cut.bytes.equals(whole.bytes)).toBe(true);
            expect({ ...cut, bytes: 0, phases: cut.phases.at(-1) }).toEqual({
              ...whole,
              bytes: 0,
              phases: whole.phases.at(-1),
            });
          },
        ),
        { numRuns: 300 },
      );
    });
  }

  it('garbage never throws, and never counts as complete', () => {
    for (const { provider, endpoint } of ways) {
      const entry = entryOf(provider);
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300)), (bytes, cuts) => {
          const reader = findTranslation(entry, endpoint).openStream(contextFor(entry), {});
          const inside = cuts.filter((cut) => cut < bytes.length);
          expect(play(reader, Buffer.from(bytes), inside).phases.at(-1)).not.toBe('complete');
        }),
      );
    }
  });
});
