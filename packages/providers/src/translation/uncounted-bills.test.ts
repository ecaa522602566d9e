import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { eventFrame } from '../../test/aws-frames.ts';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import type { ReplyFacts } from '../contract.ts';
import { translationVia } from './find-translation.ts';

const sse = (event: object) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
const awsEvent = (name: string, payload: object) => eventFrame(name, JSON.stringify(payload));

const chunk = (delta: object, finish_reason: string | null = null) =>
  sse({
    id: 'c',
    model: 'gpt-5-mini',
    service_tier: 'flex',
    choices: [{ index: 0, delta, finish_reason }],
  });
const response = { id: 'r', model: 'gpt-5-mini', output: [] };
const said = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hi' };
const message = { id: 'm', model: 'claude-sonnet-4-5', content: [] };
const fragment = (text: string, more: object = {}) => ({
  responseId: 'g',
  modelVersion: 'gemini-3-pro',
  candidates: [{ content: { role: 'model', parts: [{ text }] }, ...more }],
});
const grounds = {
  webSearchQueries: ['a', 'b'],
  groundingChunks: [{ web: { uri: 'https://example.com' } }],
};

/** Streams without counts that say all the same what they are charged by. */
const streams: Record<string, [string, Endpoint, string, Buffer[], Partial<ReplyFacts>]> = {
  'a chat': [
    'openai',
    'chatComplete',
    'gpt-5-mini',
    [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hi' }), chunk({}, 'stop')],
    { servedTier: 'flex' },
  ],
  'a response': [
    'openai',
    'createModelResponse',
    'gpt-5-mini',
    [
      sse({ type: 'response.created', response: { ...response, service_tier: 'auto' } }),
      sse(said),
      sse({
        type: 'response.completed',
        response: { ...response, status: 'completed', service_tier: 'priority' },
      }),
    ],
    { servedTier: 'priority' },
  ],
  'a response that is cut': [
    'openai',
    'createModelResponse',
    'gpt-5-mini',
    [sse({ type: 'response.created', response: { ...response, service_tier: 'flex' } }), sse(said)],
    { servedTier: 'flex' },
  ],
  'a message': [
    'anthropic',
    'messages',
    'claude-sonnet-4-5',
    [
      sse({ type: 'message_start', message: { ...message, usage: { service_tier: 'priority' } } }),
      sse({ type: 'message_stop' }),
    ],
    { servedTier: 'priority' },
  ],
  'a conversation of Bedrock': [
    'bedrock',
    'chatComplete',
    'amazon.nova-lite-v1:0',
    [
      awsEvent('messageStart', { role: 'assistant' }),
      awsEvent('messageStop', { stopReason: 'end_turn' }),
      awsEvent('metadata', { serviceTier: { type: 'flex' } }),
    ],
    { servedTier: 'flex' },
  ],
  'an answer of Gemini': [
    'google',
    'chatComplete',
    'gemini-3-pro',
    [
      sse({ ...fragment('Hi'), usageMetadata: { trafficType: 'ON_DEMAND_FLEX' } }),
      sse(fragment('.', { finishReason: 'STOP', groundingMetadata: grounds })),
    ],
    { servedTier: 'flex', units: { webSearches: 2 } },
  ],
};

describe('a stream that counts no tokens', () => {
  it.each(
    Object.entries(streams).flatMap(([name, stream]) =>
      (['chatComplete', 'messages', 'createModelResponse'] as const).map(
        (asked) => [name, asked, stream] as const,
      ),
    ),
  )('tells what else it is charged by: %s, told as %s', (_, asked, stream) => {
    const [id, offered, model, pieces, told] = stream;
    const provider = findProvider(id)!;
    const facts = { model, stream: true, setting: () => undefined };
    const translation = translationVia(provider, offered, asked, facts);
    const reader = translation.openStream(contextFor(provider, true, facts), { model });
    for (const piece of pieces) reader.push(piece);
    reader.end();
    expect(reader.facts.usage).toBeUndefined();
    expect(reader.facts).toMatchObject(told);
  });
});
