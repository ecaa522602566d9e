import { join } from 'node:path';
import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { dialectCases } from '../../../test/dialect-cases.ts';
import { contextFor, everywhere, okHead, play } from '../../../test/fixtures.ts';
import { baseUrlOf, pathOf } from '../../address.ts';
import type { CallContext, JsonObject } from '../../contract.ts';
import { findTranslation } from '../../translation/find-translation.ts';
import { vertexAi } from './index.ts';

const folder = join(import.meta.dirname, 'fixtures');
const settings: Record<string, string> = {
  'vertex-project-id': 'my-project',
  'vertex-region': 'us-east5',
};
const setting = (name: string) => settings[name];

function addressOf(endpoint: Endpoint, model: string, stream = false, read = setting): string {
  const facts = { model, stream, setting: read };
  const { entry } = findTranslation(vertexAi, endpoint, facts);
  return baseUrlOf(vertexAi, entry, facts) + pathOf(entry, facts);
}

function contextOf(body: JsonObject, more: Partial<CallContext> = {}): CallContext {
  const model = String(body.model);
  return contextFor(vertexAi, true, {
    model,
    stream: body.stream === true,
    request: body,
    setting,
    ...more,
  });
}

describe('addresses', () => {
  const at = 'https://us-east5-aiplatform.googleapis.com/v1/projects/my-project/locations/us-east5';
  const preview = at.replace('/v1/', '/v1beta1/');
  const open = `${at}/endpoints/openapi/chat/completions`;
  it.each([
    [
      'chatComplete',
      'gemini-2.5-flash',
      false,
      `${at}/publishers/google/models/gemini-2.5-flash:generateContent`,
    ],
    [
      'chatComplete',
      'google.gemini-2.5-flash',
      true,
      `${at}/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse`,
    ],
    [
      'messages',
      'publishers/google/models/gemini-2.5-pro',
      false,
      `${at}/publishers/google/models/gemini-2.5-pro:generateContent`,
    ],
    [
      'chatComplete',
      'anthropic.claude-sonnet-4-5@20250929',
      false,
      `${at}/publishers/anthropic/models/claude-sonnet-4-5%4020250929:rawPredict`,
    ],
    [
      'messages',
      'anthropic.claude-sonnet-4-5@20250929',
      true,
      `${at}/publishers/anthropic/models/claude-sonnet-4-5%4020250929:streamRawPredict`,
    ],
    // As Anthropic's and Mistral's own clients on Vertex name them.
    [
      'messages',
      'claude-sonnet-4-5@20250929',
      false,
      `${at}/publishers/anthropic/models/claude-sonnet-4-5%4020250929:rawPredict`,
    ],
    [
      'chatComplete',
      'mistral-medium-3',
      false,
      `${at}/publishers/mistralai/models/mistral-medium-3:rawPredict`,
    ],
    [
      'messagesCountTokens',
      'anthropic.claude-sonnet-4-5',
      false,
      `${at}/publishers/anthropic/models/count-tokens:rawPredict`,
    ],
    [
      'messagesCountTokens',
      'gemini-2.5-pro',
      false,
      `${at}/publishers/google/models/gemini-2.5-pro:countTokens`,
    ],
    [
      'chatComplete',
      'mistralai.mistral-medium-3',
      true,
      `${at}/publishers/mistralai/models/mistral-medium-3:streamRawPredict`,
    ],
    [
      'messages',
      'mistralai.codestral-2',
      false,
      `${at}/publishers/mistralai/models/codestral-2:rawPredict`,
    ],
    [
      'chatComplete',
      'meta.llama-3.3-70b-instruct-maas',
      false,
      `${preview}/endpoints/openapi/chat/completions`,
    ],
    ['chatComplete', 'moonshotai.kimi-k2-thinking-maas', true, open],
    ['chatComplete', 'zai-org.glm-4.7-maas', false, open],
    ['chatComplete', 'qwen.qwen3-coder-480b-a35b-instruct-maas', false, open],
    ['chatComplete', 'xai.grok-4.1-fast-reasoning', false, open],
    ['chatComplete', 'deepseek.deepseek-v3.2-maas', false, open],
    ['chatComplete', 'openai/gpt-oss-120b-maas', false, open],
    ['chatComplete', 'endpoints.1234567890', true, `${at}/endpoints/1234567890/chat/completions`],
    ['chatComplete', 'endpoints.a/../b', false, `${at}/endpoints/a%2F..%2Fb/chat/completions`],
    [
      'chatComplete',
      'unknown.model/x?y',
      false,
      `${at}/publishers/google/models/unknown.model%2Fx%3Fy:generateContent`,
    ],
    [
      'embed',
      'text-embedding-005',
      false,
      `${at}/publishers/google/models/text-embedding-005:predict`,
    ],
    [
      'embed',
      'gemini-embedding-001',
      false,
      `${at}/publishers/google/models/gemini-embedding-001:predict`,
    ],
    [
      'embed',
      'gemini-embedding-2',
      false,
      `${at}/publishers/google/models/gemini-embedding-2:embedContent`,
    ],
    [
      'imageGenerate',
      'imagen-4.0-generate-001',
      false,
      `${at}/publishers/google/models/imagen-4.0-generate-001:predict`,
    ],
    [
      'rerank',
      'semantic-ranker-default@latest',
      false,
      'https://discoveryengine.googleapis.com/v1/projects/my-project/locations/global/rankingConfigs/default_ranking_config:rank',
    ],
    [
      'listModels',
      '',
      false,
      'https://us-east5-aiplatform.googleapis.com/v1beta1/publishers/google/models',
    ],
  ] as [Endpoint, string, boolean, string][])(
    '%s of %s, streamed %s',
    (endpoint, model, stream, url) => {
      expect(addressOf(endpoint, model, stream)).toBe(url);
    },
  );

  it.each([
    [undefined, 'https://aiplatform.googleapis.com', 'global'],
    ['global', 'https://aiplatform.googleapis.com', 'global'],
    ['us', 'https://aiplatform.us.rep.googleapis.com', 'us'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com', 'eu'],
    ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com', 'europe-west4'],
  ])('of the region %s', (region, host, location) => {
    const read = (name: string) => (name === 'vertex-region' ? region : settings[name]);
    expect(addressOf('chatComplete', 'gemini-2.5-pro', false, read)).toBe(
      `${host}/v1/projects/my-project/locations/${location}/publishers/google/models/gemini-2.5-pro:generateContent`,
    );
  });

  it('prefer the project of the service account, and do without one where it cannot be read', () => {
    const read = (account: string) => (name: string) =>
      name === 'vertex-service-account-json' ? account : settings[name];
    expect(addressOf('rerank', 'm', false, read('{"project_id":"of-account"}'))).toContain(
      '/projects/of-account/',
    );
    expect(addressOf('rerank', 'm', false, read('{'))).toContain('/projects/my-project/');
  });

  it('ask for the project, and for settings that lead nowhere else', () => {
    expect(() => addressOf('rerank', 'm', false, () => undefined)).toThrow(
      expect.objectContaining({
        code: 'provider.setting_missing',
        field: 'x-service-vertex-project-id',
      }),
    );
    for (const region of ['evil.com/', 'us@evil', '../us', 'us#'])
      expect(() =>
        addressOf('chatComplete', 'm', false, (name) =>
          name === 'vertex-region' ? region : settings[name],
        ),
      ).toThrow(expect.objectContaining({ code: 'provider.setting_invalid' }));
    const account = '{"project_id":"a/../../b"}';
    expect(() => addressOf('rerank', 'm', false, () => account)).toThrow(
      expect.objectContaining({ code: 'provider.setting_invalid' }),
    );
  });
});

describe('what is not offered', () => {
  it.each([
    ['embed', 'anthropic.claude-x'],
    ['messagesCountTokens', 'meta.llama-4'],
    ['createSpeech', 'gemini-2.5-flash-tts'],
  ] as [Endpoint, string][])('%s of %s', (endpoint, model) => {
    expect(() => addressOf(endpoint, model)).toThrow(
      expect.objectContaining({ code: 'provider.endpoint_unsupported' }),
    );
  });
});

describe('Claude', () => {
  const body: JsonObject = {
    model: 'anthropic.claude-opus-4-6',
    max_tokens: 100,
    output_config: { effort: 'low' },
    system: [
      { type: 'text', text: 's', cache_control: { type: 'ephemeral', ttl: '1h', scope: 'global' } },
    ],
    anthropic_beta: ['b1'],
    messages: [
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            content: [
              { type: 'text', text: 'x', cache_control: { type: 'ephemeral', scope: 'x' } },
            ],
          },
        ],
      },
    ],
    new_field: 1,
  };

  it('takes messages natively, without the model and with its version in the body', () => {
    const call = findTranslation(vertexAi, 'messages', contextOf(body));
    expect(call.mode).toBe('native');
    const before = structuredClone(body);
    const encoded = call.encode(body, contextOf(body));
    expect(body).toEqual(before);
    expect(encoded).toEqual({
      body: {
        max_tokens: 100,
        output_config: { effort: 'low' },
        system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 't',
                content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }],
              },
            ],
          },
        ],
        new_field: 1,
        anthropic_version: 'vertex-2023-10-16',
      },
      dropped: [],
      headers: { 'anthropic-beta': 'b1' },
    });
  });

  it('is asked for an effort and for a schema in `output_config`, of translated calls too', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const chat = {
      model: 'anthropic.claude-opus-4-6',
      messages: [{ role: 'user', content: 'Hi' }],
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
    };
    const call = findTranslation(vertexAi, 'chatComplete', contextOf(chat));
    const { body: sent, dropped } = call.encode(chat, contextOf(chat));
    expect(sent?.output_config).toMatchObject({
      effort: 'low',
      format: { type: 'json_schema', schema: { type: 'object' } },
    });
    expect(dropped).toEqual([]);
  });

  it('takes chat translated, and is known by its name behind the publisher', () => {
    const chat = {
      model: 'anthropic.claude-sonnet-4-5@20250929',
      messages: [{ role: 'user', content: 'Hi' }],
      reasoning_effort: 'medium',
      stream: true,
    };
    const call = findTranslation(vertexAi, 'chatComplete', contextOf(chat));
    expect(call.mode).toBe('translated');
    expect(call.encode(chat, contextOf(chat)).body).toEqual({
      max_tokens: 64_000,
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      thinking: { type: 'enabled', budget_tokens: 8192 },
      anthropic_version: 'vertex-2023-10-16',
    });
  });

  it.each([undefined, 64_000])('asks Opus 4 for no more than it writes: %s', (asked) => {
    const chat = {
      model: 'anthropic.claude-opus-4@20250514',
      messages: [{ role: 'user', content: 'Hi' }],
      ...(asked !== undefined && { max_tokens: asked }),
    };
    const call = findTranslation(vertexAi, 'chatComplete', contextOf(chat));
    const { body, dropped } = call.encode(chat, contextOf(chat));
    expect(body).toMatchObject({ max_tokens: 32_000 });
    expect(dropped).toEqual(asked === undefined ? [] : ['max_tokens']);
  });

  it('counts tokens with the bare name in the body', () => {
    const counted = { model: 'anthropic.claude-opus-4-6', messages: [] };
    const call = findTranslation(vertexAi, 'messagesCountTokens', contextOf(counted));
    expect(call.encode(counted, contextOf(counted)).body).toEqual({
      model: 'claude-opus-4-6',
      messages: [],
      anthropic_version: 'vertex-2023-10-16',
    });
    const reply = Buffer.from('{"input_tokens":4}');
    expect(call.decode(reply, contextOf(counted), okHead).body).toBeUndefined();
  });

  it('streams with events of Vertex AI’s own, which disturb no reader', () => {
    const bytes = Buffer.from(
      [
        'event: vertex_event\ndata: {"usage":{"output_tokens":5}}\n\n',
        'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"claude","usage":{"input_tokens":3,"output_tokens":1}}}\n\n',
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße"}}\n\n',
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
        'event: vertex_event\ndata: {"type":"vertex_event","usage":{}}\n\n',
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n',
        'event: message_stop\ndata: {"type":"message_stop"}\n\n',
      ].join(''),
    );
    for (const endpoint of ['messages', 'chatComplete'] as const) {
      const call = findTranslation(vertexAi, endpoint, contextOf(body));
      const whole = play(call.openStream(contextOf(body), {}), bytes, []);
      const cut = play(call.openStream(contextOf(body), {}), bytes, everywhere(bytes));
      expect(cut.bytes.equals(whole.bytes)).toBe(true);
      expect(whole.phases.at(-1)).toBe('complete');
      expect(whole.facts.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 });
    }
  });
});

describe('open models', () => {
  const bodyFor = (model: string) => {
    const chat = { model, messages: [{ role: 'developer', content: 'x' }], extra: 1 };
    const call = findTranslation(vertexAi, 'chatComplete', contextOf(chat));
    expect(call.mode).toBe('native');
    return call.encode(chat, contextOf(chat)).body;
  };
  const rest = { messages: [{ role: 'system', content: 'x' }], extra: 1 };

  it.each([
    ['mistralai.mistral-medium-3', { model: 'mistral-medium-3' }],
    ['meta.llama-3.3-70b-instruct-maas', { model: 'meta/llama-3.3-70b-instruct-maas' }],
    ['deepseek.deepseek-v3.2-maas', { model: 'deepseek-ai/deepseek-v3.2-maas' }],
    ['openai/gpt-oss-120b-maas', { model: 'openai/gpt-oss-120b-maas' }],
    ['endpoints.123', {}],
  ])('%s is asked as %j', (model, named) => {
    expect(bodyFor(model)).toEqual({ ...named, ...rest });
  });
});

describe('Gemini', () => {
  it('takes labels, which the Gemini API does not know', () => {
    const chat = { model: 'gemini-2.5-flash', messages: [], labels: { team: 'a' } };
    const call = findTranslation(vertexAi, 'chatComplete', contextOf(chat));
    expect(call.encode(chat, contextOf(chat)).body).toEqual({
      contents: [],
      labels: { team: 'a' },
    });
  });
});

describe('dialects', () => {
  for (const name of ['embeddings', 'images', 'rerank', 'count-tokens', 'models'])
    dialectCases('vertex-ai', folder, name);

  it.each([
    ['embed', { model: 'gemini-embedding-2', input: ['a', 'b'] }, 'body.input'],
    ['embed', { model: 'multimodalembedding@001', input: [{}] }, 'body.input[0]'],
    ['imageGenerate', { model: 'imagen-4' }, 'body.prompt'],
    ['rerank', { model: 'm', documents: [] }, 'body.query'],
    ['rerank', { model: 'm', query: 'q', documents: [{ a: 1 }] }, 'body.documents[0]'],
  ] as [Endpoint, JsonObject, string][])('%s refuses %j', (endpoint, body, field) => {
    const call = findTranslation(vertexAi, endpoint, contextOf(body));
    expect(() => call.encode(body, contextOf(body))).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });
});
