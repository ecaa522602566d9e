import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import type { CallFacts } from '../call-facts.ts';
import { findProvider } from '../catalog.ts';
import { openAiChat } from '../codecs/openai-chat/index.ts';
import { type ModelOverride, ModelOverrides } from '../models/model-overrides.ts';
import { findTranslation } from '../translation/find-translation.ts';

type Endpoint = Parameters<typeof findTranslation>[1];

/** The format that a model is asked in, of which an operator says what it is like. */
function formatOf(
  provider: string,
  endpoint: Endpoint,
  { like, ...facts }: Partial<CallFacts> & { model: string; like?: string; match?: string },
  settings: Record<string, string> = {},
): string {
  const { match = facts.model } = facts;
  const rows = like === undefined ? [] : [{ match, like, facts: {} }];
  const { entry } = findTranslation(findProvider(provider)!, endpoint, {
    stream: false,
    setting: (name) => settings[name],
    modelOverrides: new ModelOverrides(rows),
    ...facts,
  });
  return entry.format;
}

const profile = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc';
const foundry = { 'azure-foundry-url': 'https://mine.services.ai.azure.com' };
const tools = { tools: [{ type: 'function', function: { name: 'f' } }] };

describe('a model whose name does not tell what it is, and whose operator does', () => {
  it.each([
    ['bedrock', 'messages', profile, 'anthropic.claude-sonnet-4-5', 'anthropic-messages'],
    ['bedrock', 'messages', profile, 'claude-sonnet-4-5', 'anthropic-messages'],
    ['bedrock', 'messages', profile, 'amazon.nova-lite-v1:0', 'bedrock-converse'],
    ['bedrock', 'embed', profile, 'cohere.embed-english-v3', 'bedrock/cohere-embeddings'],
    ['azure-ai', 'messages', 'writer', 'claude-sonnet-4-5', 'anthropic-messages'],
    ['azure-ai', 'chatComplete', 'writer', 'claude-sonnet-4-5', 'anthropic-messages'],
    ['azure-openai', 'chatComplete', 'writer', 'gpt-5-codex', 'openai-responses'],
  ] as const)(
    'is asked at %s for %s as what it is: %s like %s',
    (provider, endpoint, model, like, format) => {
      const settings = provider === 'azure-ai' ? foundry : {};
      expect(formatOf(provider, endpoint, { model, like }, settings)).toBe(format);
    },
  );

  it.each([
    ['its deployment', { 'azure-deployment-id': 'prod' }, 'prod'],
    ['the model beside its deployment', { 'azure-deployment-id': 'prod' }, 'm'],
    ['the model that it is said to have', { 'azure-model-name': 'secret' }, 'secret'],
  ])('is known at Azure by the name of %s', (_, settings, match) => {
    const asked = { model: 'm', match, like: 'gpt-5.6', request: tools };
    expect(formatOf('azure-openai', 'chatComplete', asked, settings)).toBe('openai-responses');
    const unknown = { model: 'm', request: tools };
    expect(formatOf('azure-openai', 'chatComplete', unknown, settings)).toBe('openai-chat');
  });

  it('is asked at Azure in the words that it takes, as by its own name', () => {
    const provider = findProvider('azure-openai')!;
    const body = {
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 9,
      temperature: 0.5,
    };
    const at = (settings: Record<string, string>, rows: ModelOverride[]) => {
      const context = contextFor(provider, true, {
        request: body,
        model: 'm',
        setting: (name) => settings[name],
        modelOverrides: new ModelOverrides(rows),
      });
      return openAiChat.encodeRequest(openAiChat.decodeRequest(body).request, context).dropped;
    };
    expect(at({ 'azure-deployment-id': 'prod' }, [])).toEqual([]);
    const rows = [{ match: 'prod', like: 'gpt-5', facts: {} }];
    expect(at({ 'azure-deployment-id': 'prod' }, rows)).toEqual(['temperature']);
    expect(at({ 'azure-deployment-id': 'prod-gpt-5' }, [])).toEqual(['temperature']);
    expect(at({ 'model-name': 'gpt-5' }, [])).toEqual(['temperature']);
  });
});
