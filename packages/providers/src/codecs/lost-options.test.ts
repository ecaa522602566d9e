import type { Endpoint, JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from '../translation/find-translation.ts';

function encoded(provider: string, endpoint: Endpoint, body: JsonObject) {
  const entry = findProvider(provider)!;
  return findTranslation(entry, endpoint).encode({ model: 'm', ...body }, contextFor(entry));
}

const messages = [{ role: 'user', content: 'Hi' }];

describe('options of a tool that another provider runs', () => {
  const claudes = {
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: 3,
    allowed_domains: ['example.com'],
    user_location: { type: 'approximate', city: 'Bern' },
  };
  const openAis = {
    type: 'web_search',
    search_context_size: 'low',
    filters: { allowed_domains: ['example.com'] },
    user_location: { type: 'approximate', city: 'Bern' },
  };

  it('are named where Gemini has none', () => {
    const body = { max_tokens: 5, messages, tools: [claudes] };
    expect(encoded('google', 'messages', body)).toMatchObject({
      body: { tools: [{ googleSearch: {} }] },
      dropped: ['tools[0].max_uses', 'tools[0].allowed_domains', 'tools[0].user_location'],
    });
    const asked = encoded('google', 'createModelResponse', { input: 'Hi', tools: [openAis] });
    expect(asked.dropped).toEqual([
      'tools[0].search_context_size',
      'tools[0].filters.allowed_domains',
      'tools[0].user_location',
    ]);
    const bare = { type: 'code_interpreter', container: { type: 'auto' } };
    const plain = encoded('google', 'createModelResponse', { input: 'Hi', tools: [bare] });
    expect(plain.dropped).toEqual([]);
  });

  it('are named where others have a part of them', () => {
    const asked = encoded('anthropic', 'createModelResponse', { input: 'Hi', tools: [openAis] });
    expect(asked.body).toMatchObject({ tools: [{ allowed_domains: ['example.com'] }] });
    expect(asked.dropped).toEqual(['tools[0].search_context_size']);
  });
});

describe('thinking as the model sees fit', () => {
  const asked = (model: string, thinking: JsonObject) =>
    encoded('openai', 'messages', { model, max_tokens: 4000, messages, thinking });
  const tools = [{ name: 'f', input_schema: { type: 'object' } }];

  it('is an effort of models that do not think unless they are asked to', () => {
    for (const type of ['adaptive', 'enabled'])
      for (const model of ['gpt-5.1', 'gpt-5.4']) {
        expect(asked(model, { type })).toMatchObject({
          body: { reasoning_effort: 'medium' },
          dropped: [],
        });
        const body = { model, max_tokens: 4000, messages, thinking: { type }, tools };
        const { body: sent } = encoded('openai', 'messages', body);
        const inResponses = sent?.reasoning as JsonObject | undefined;
        expect(sent?.reasoning_effort ?? inResponses?.effort).toBe('medium');
      }
  });

  it('is left to all others, which do so by themselves', () => {
    for (const model of ['gpt-5', 'gpt-5.6', 'gpt-6', 'unheard-of'])
      expect(asked(model, { type: 'adaptive' }).body).not.toHaveProperty('reasoning_effort');
    expect(asked('gpt-5.1', { type: 'disabled' }).body).toHaveProperty('reasoning_effort', 'none');
  });
});

describe('an image that is not to be made smaller', () => {
  it('is named where nobody can be asked for it, whatever it stands in', () => {
    const image = (oversized_image: string) => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' },
      transformations: { oversized_image },
    });
    const call = { type: 'tool_use', id: 't1', name: 'f', input: {} };
    const resultOf = (content: object[]) => ({ type: 'tool_result', tool_use_id: 't1', content });
    const asked = (size: string) => ({
      max_tokens: 5,
      messages: [
        { role: 'user', content: [image(size), image(size)] },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [resultOf([image(size)])] },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    });
    for (const provider of ['openai', 'google']) {
      const named = [0, 2].map((index) => `messages[${index}].image.transformations`);
      expect(encoded(provider, 'messages', asked('error') as never).dropped).toEqual(named);
      expect(encoded(provider, 'messages', asked('downsize') as never).dropped).toEqual([]);
    }
  });
});

describe('what an earlier answer rests on', () => {
  it('is named wherever it is lost', () => {
    const page = { type: 'web_search_result_location', url: 'https://a.example', cited_text: 'b' };
    const answer = { type: 'text', text: 'A', citations: [page] };
    const turns = [...messages, { role: 'assistant', content: [answer] }, ...messages];
    for (const [provider, model] of [
      ['openai', 'gpt-4.1'],
      ['openai', 'gpt-5.3-codex'],
      ['google', 'gemini-3.8-flash'],
      ['bedrock', 'amazon.nova-lite-v1:0'],
      ['cohere', 'command-a-03-2025'],
    ] as const) {
      const asked = encoded(provider, 'messages', { model, max_tokens: 5000, messages: turns });
      expect([model, asked.dropped]).toEqual([model, ['messages[1].citations']]);
    }
  });
});

describe('a file for Cohere', () => {
  it('is left out and named, unless it is a text', () => {
    const file = (source: JsonObject) => ({
      max_tokens: 5,
      messages: [{ role: 'user', content: [{ type: 'document', source }] }],
    });
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
    expect(encoded('cohere', 'messages', file(pdf)).dropped).toEqual(['messages[0].document']);
    const text = { type: 'text', media_type: 'text/plain', data: 'Words.' };
    expect(encoded('cohere', 'messages', file(text)).body).toMatchObject({
      messages: [{ content: [{ type: 'text', text: 'Words.' }] }],
    });
  });
});
