import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../../test/fixtures.ts';
import { baseUrlOf, pathOf } from '../../address.ts';
import type { CallFacts } from '../../call-facts.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation, isChoice } from '../../translation/find-translation.ts';

const mantle = findProvider('bedrock-mantle')!;
const origin = 'https://bedrock-mantle.us-east-1.api.aws';

function factsOf(model: string): CallFacts {
  return { model, stream: false, setting: () => undefined };
}

/** Where the endpoint's own entry for a model leads; undefined when it has none. */
function ownUrl(endpoint: Endpoint, model: string): string | undefined {
  const offered = mantle.endpoints[endpoint];
  const facts = factsOf(model);
  const entry =
    offered !== undefined && isChoice(offered) ? offered.choose(facts, endpoint) : offered;
  return entry && baseUrlOf(mantle, entry, facts) + pathOf(entry, facts);
}

describe('bedrock-mantle', () => {
  it.each([
    ['chatComplete', 'openai.gpt-oss-120b', `${origin}/v1/chat/completions`],
    ['chatComplete', 'qwen.qwen3-32b', `${origin}/v1/chat/completions`],
    ['chatComplete', 'google.gemma-3-27b-it', `${origin}/v1/chat/completions`],
    ['chatComplete', 'google.gemma-4-31b', `${origin}/openai/v1/chat/completions`],
    ['chatComplete', 'xai.grok-4.3', `${origin}/openai/v1/chat/completions`],
    ['chatComplete', 'openai.gpt-5.5', undefined],
    ['chatComplete', 'anthropic.claude-opus-4-8', undefined],
    ['createModelResponse', 'openai.gpt-5.5', `${origin}/openai/v1/responses`],
    ['createModelResponse', 'openai.gpt-oss-20b', `${origin}/v1/responses`],
    ['createModelResponse', 'qwen.qwen3-32b', undefined],
    ['messages', 'anthropic.claude-opus-4-8', `${origin}/anthropic/v1/messages`],
    ['messages', 'qwen.qwen3-32b', undefined],
    ['listModels', '', `${origin}/v1/models`],
  ] as const)('%s of %s is at %s', (endpoint, model, url) => {
    expect(ownUrl(endpoint, model)).toBe(url);
  });

  it('makes chat completions of Claude’s messages, and messages of the others’ chat', () => {
    const claude = factsOf('anthropic.claude-opus-4-8');
    expect(findTranslation(mantle, 'messages', claude).mode).toBe('native');
    expect(findTranslation(mantle, 'chatComplete', claude).upstreamFormat).toBe(
      'anthropic-messages',
    );
    expect(findTranslation(mantle, 'messages', factsOf('qwen.qwen3-32b')).upstreamFormat).toBe(
      'openai-chat',
    );
  });

  it('knows a Claude by its name behind the vendor’s', () => {
    const model = 'anthropic.claude-opus-4-8';
    const context = contextFor(mantle, true, { model });
    const body = { model, messages: [], reasoning_effort: 'high' };
    expect(
      findTranslation(mantle, 'chatComplete', context).encode(body, context).body,
    ).toMatchObject({
      model,
      max_tokens: 64_000,
      thinking: { type: 'adaptive' },
    });
  });

  it('keeps propertyNames from Gemma alone', () => {
    const schema = {
      type: 'object',
      propertyNames: { pattern: 'x' },
      properties: { a: { propertyNames: {} } },
    };
    const ask = (model: string) => {
      const context = contextFor(mantle, true, { model });
      const tools = [{ type: 'function', function: { name: 'f', parameters: schema } }];
      return findTranslation(mantle, 'chatComplete', context).encode(
        { model, messages: [], tools },
        context,
      ).body;
    };
    expect(ask('google.gemma-4-31b')?.tools).toEqual([
      {
        type: 'function',
        function: { name: 'f', parameters: { type: 'object', properties: { a: {} } } },
      },
    ]);
    expect(ask('qwen.qwen3-32b')).toBeUndefined();
  });
});
