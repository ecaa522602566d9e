import type { Endpoint, JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { baseUrlOf, pathOf } from '../address.ts';
import { findProvider } from '../catalog.ts';
import type { ModelOverrides } from '../models/model-overrides.ts';
import { readModelOverrides } from '../models/read-model-overrides.ts';
import { findTranslation } from '../translation/find-translation.ts';
import { findPassThrough } from '../translation/pass-through.ts';

const fn = { type: 'function', function: { name: 'f', parameters: {} } };
const tool = { name: 'f', input_schema: {} };

/** Where a call goes, and whether its bytes pass as they are. */
function goesTo(
  id: string,
  endpoint: Endpoint,
  request: JsonObject,
  more: {
    settings?: Record<string, string>;
    betas?: string[];
    modelOverrides?: ModelOverrides;
  } = {},
): string {
  const provider = findProvider(id)!;
  const settings = more.settings ?? {};
  const context = contextFor(provider, true, {
    model: String(request.model),
    request,
    setting: (name) => settings[name],
    ...(more.betas && { betas: more.betas }),
    ...(more.modelOverrides && { modelOverrides: more.modelOverrides }),
  });
  const call = findTranslation(provider, endpoint, context);
  const url = baseUrlOf(provider, call.entry, context) + pathOf(call.entry, context);
  return `${call.mode} ${new URL(url).pathname}`;
}

describe('OpenAI’s models', () => {
  it.each<[Endpoint, JsonObject, string]>([
    ['chatComplete', { model: 'gpt-5.6' }, 'native /v1/chat/completions'],
    ['chatComplete', { model: 'gpt-5.6', tools: [fn] }, 'translated /v1/responses'],
    [
      'chatComplete',
      { model: 'gpt-5.6', tools: [{ type: 'custom', custom: { name: 'f' } }] },
      'native /v1/chat/completions',
    ],
    [
      'messages',
      {
        model: 'gpt-5.6',
        messages: [
          { role: 'user', content: 'q' },
          {
            role: 'system',
            content: [
              { type: 'tool_addition', tool: { type: 'tool_definition', definition: tool } },
            ],
          },
        ],
      },
      'translated /v1/responses',
    ],
    ['chatComplete', { model: 'gpt-6-astra', tools: [fn] }, 'translated /v1/responses'],
    ['chatComplete', { model: 'gpt-6-astra' }, 'native /v1/chat/completions'],
    // They have no effort of `none`, so whoever asks for it is asked to reason as well.
    ...['gpt-6-astra', 'gpt-6.1-sol', 'gpt-6.1-terra'].map(
      (model): [Endpoint, JsonObject, string] => [
        'chatComplete',
        { model, tools: [fn], reasoning_effort: 'none' },
        'translated /v1/responses',
      ],
    ),
    ['chatComplete', { model: 'gpt-6-sol', tools: [fn] }, 'translated /v1/responses'],
    [
      'chatComplete',
      { model: 'gpt-6-sol', tools: [fn], reasoning_effort: 'none' },
      'native /v1/chat/completions',
    ],
    [
      'chatComplete',
      { model: 'gpt-5.6', tools: [fn], reasoning_effort: 'none' },
      'native /v1/chat/completions',
    ],
    ['chatComplete', { model: 'gpt-5.4', tools: [fn] }, 'native /v1/chat/completions'],
    [
      'chatComplete',
      { model: 'gpt-5.4', tools: [fn], reasoning_effort: 'low' },
      'translated /v1/responses',
    ],
    ['chatComplete', { model: 'gpt-5.1', tools: [fn] }, 'native /v1/chat/completions'],
    ['chatComplete', { model: 'gpt-5-codex' }, 'translated /v1/responses'],
    ['chatComplete', { model: 'o3-deep-research' }, 'translated /v1/responses'],
    ['chatComplete', { model: 'ft:gpt-4.1:me', tools: [fn] }, 'native /v1/chat/completions'],
    ['complete', { model: 'gpt-5.5-pro', prompt: 'x' }, 'native /v1/completions'],
    ['messages', { model: 'gpt-5.6' }, 'translated /v1/chat/completions'],
    ['messages', { model: 'gpt-5.6', tools: [tool] }, 'translated /v1/responses'],
    ['messages', { model: 'gpt-5.4', tools: [tool] }, 'translated /v1/responses'],
    ['messages', { model: 'gpt-4.1', tools: [tool] }, 'translated /v1/chat/completions'],
    [
      'messages',
      {
        model: 'gpt-4.1',
        messages: [
          { role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'x' } }] },
        ],
      },
      'translated /v1/responses',
    ],
    ['createModelResponse', { model: 'gpt-5.6', tools: [fn] }, 'native /v1/responses'],
  ])('%s of %j go where they are served', (endpoint, request, path) => {
    expect(goesTo('openai', endpoint, request)).toBe(path);
  });

  it('are asked at Azure by what their deployment is said to be, where its version has responses', () => {
    const request: JsonObject = { model: 'main', tools: [fn] };
    const at = (settings: Record<string, string>) =>
      goesTo('azure-openai', 'chatComplete', request, {
        settings: { 'azure-resource-name': 'r', 'azure-deployment-id': 'main', ...settings },
      });
    expect(at({})).toBe('native /openai/v1/chat/completions');
    expect(at({ 'azure-model-name': 'gpt-5.6' })).toBe('translated /openai/v1/responses');
    expect(at({ 'azure-deployment-id': 'prod-gpt-5.6' })).toBe('translated /openai/v1/responses');
    expect(at({ 'azure-model-name': 'gpt-5.6', 'azure-api-version': '2024-10-21' })).toBe(
      'native /openai/deployments/main/chat/completions',
    );
  });

  it('are known by the operator’s word where a name does not tell', () => {
    const rows = [{ match: 'main', like: 'gpt-5.6' }];
    const modelOverrides = readModelOverrides(JSON.stringify({ models: rows }));
    const request: JsonObject = { model: 'main', tools: [fn] };
    expect(goesTo('openai', 'chatComplete', request)).toBe('native /v1/chat/completions');
    expect(goesTo('openai', 'chatComplete', request, { modelOverrides })).toBe(
      'translated /v1/responses',
    );
  });

  it('are asked in a Foundry resource at OpenAI’s own path', () => {
    const settings = { 'azure-foundry-url': 'https://a.services.ai.azure.com' };
    const request: JsonObject = { model: 'gpt-5.6', tools: [fn] };
    expect(goesTo('azure-ai', 'chatComplete', request, { settings })).toBe(
      'translated /openai/v1/responses',
    );
    expect(goesTo('azure-ai', 'chatComplete', { model: 'gpt-5.6' }, { settings })).toBe(
      'native /models/chat/completions',
    );
  });
});

describe('x-service-beta: use-responses-api-2026-07-30', () => {
  const betas = ['unknown', 'use-responses-api-2026-07-30'];

  it('sends messages by way of responses where a provider has them', () => {
    const request = { model: 'm' };
    expect(goesTo('groq', 'messages', request)).toBe('translated /openai/v1/chat/completions');
    expect(goesTo('groq', 'messages', request, { betas })).toBe('translated /openai/v1/responses');
    expect(goesTo('cometapi', 'messages', request, { betas })).toBe(
      'translated /v1/chat/completions',
    );
    expect(goesTo('anthropic', 'messages', request, { betas })).toBe('native /v1/messages');
    expect(goesTo('groq', 'chatComplete', request, { betas })).toBe(
      'native /openai/v1/chat/completions',
    );
  });
});

describe('a pass-through path', () => {
  it('is still read as chat completions', () => {
    const call = findPassThrough(findProvider('openai')!, '/chat/completions')?.translation;
    expect(call?.callerFormat).toBe('openai-chat');
  });
});
