import { describe, expect, it } from 'vitest';
import { contextFor, okHead } from '../test/fixtures.ts';
import { outgoing } from '../test/outgoing.ts';
import { hasProviderFixture, providerFixture } from '../test/provider-fixtures.ts';
import { baseUrlOf, pathOf } from './address.ts';
import { authHeaders, withRequestHeaders } from './auth-headers.ts';
import { compatibleProviders } from './catalog/compatible.ts';
import { movedProviders } from './catalog/moved.ts';
import { proxiedProviders } from './catalog/proxied.ts';
import { selfHostedProviders } from './catalog/self-hosted.ts';
import { providersWithDialects } from './catalog/with-dialects.ts';
import { providersWithQuirks } from './catalog/with-quirks.ts';
import { findProvider, providerIds } from './catalog.ts';
import type { JsonObject } from './contract.ts';
import { accountHeaders } from './declared-settings.ts';
import { findTranslation, isChoice } from './translation/find-translation.ts';
import { findPassThrough } from './translation/pass-through.ts';

const ids = providerIds();
/** Entries without a folder, and so without tests of their own. */
const tables = [
  compatibleProviders,
  providersWithQuirks,
  providersWithDialects,
  movedProviders,
  selfHostedProviders,
  proxiedProviders,
];

describe('fixtures', () => {
  it.each(tables.flat().map(({ id }) => id))('%s has one, as every entry of a table must', (id) => {
    expect(hasProviderFixture(id)).toBe(true);
  });

  for (const id of ids.filter(hasProviderFixture)) {
    const fixture = providerFixture(id);
    const provider = findProvider(id)!;

    if (fixture.request !== undefined)
      it(`${id} is called at the address and with the authorisation of its fixture`, () => {
        const settings = Object.entries(fixture.settings ?? {});
        const { url, headers } = outgoing(provider, fixture, {
          endpoint: 'chatComplete',
          ...(fixture.model === undefined ? {} : { model: fixture.model }),
          configurations: Object.fromEntries(
            settings.map(([name, value]) => [name.replaceAll('-', '_'), value]),
          ),
          expect: {},
        });
        expect({ url, headers }).toEqual(fixture.request);
      });

    for (const [index, call] of (fixture.calls ?? []).entries())
      it(`${id} is called as call ${index} of its fixture says: ${call.endpoint}`, () => {
        const before = structuredClone(call.body);
        const found = outgoing(provider, fixture, call);
        const { body, ...rest } = call.expect;
        expect(found).toMatchObject(rest);
        expect(found.error).toBe(rest.error);
        if (rest.headers !== undefined) expect(found.headers).toEqual(rest.headers);
        if (call.body !== undefined && rest.error === undefined) expect(found.body).toEqual(body);
        expect(call.body).toEqual(before);
      });
  }
});

describe('compatible providers', () => {
  it.each(compatibleProviders.map(({ id }) => id))(
    '%s gets the body as it came, but for a role it does not know',
    (id) => {
      const provider = findProvider(id)!;
      const call = findTranslation(provider, 'chatComplete');
      expect(call.mode).toBe('native');
      const encode = (role: string) =>
        call.encode(
          { model: 'm', new_field: 1, messages: [{ role, content: 'x' }] },
          contextFor(provider),
        ).body;
      expect(encode('user')).toBeUndefined();
      expect(encode('developer')).toEqual({
        model: 'm',
        new_field: 1,
        messages: [{ role: 'system', content: 'x' }],
      });
    },
  );

  it.each(ids.filter((id) => !['openai', 'azure-openai', 'passthrough', 'demo'].includes(id)))(
    '%s is not sent the role developer in a chat completion of its own format',
    (id) => {
      const provider = findProvider(id)!;
      const offered = provider.endpoints.chatComplete;
      const all = offered === undefined ? [] : isChoice(offered) ? offered.all : [offered];
      for (const entry of all)
        if (entry.format === 'openai-chat')
          expect((entry.quirks ?? provider.quirks)?.developerAsSystem).toBe(true);
    },
  );
});

describe('entries', () => {
  it.each(ids)(
    '%s has a base without trailing slash, a source with a date and paths that begin with one slash',
    (id) => {
      const provider = findProvider(id)!;
      const setting = (name: string) => (name.endsWith('-url') ? undefined : 'a-setting');
      const request = { voice: 'a-voice' };
      const facts = { model: 'a-model', stream: false, setting, request };
      // Where nothing but a custom host or an address as a setting names it.
      if (provider.baseUrl !== '' && id !== 'azure-ai')
        expect(baseUrlOf(provider, undefined, facts)).toMatch(/^https?:\/\/[^/].*[^/]$/);
      expect(provider.source).not.toBe('');
      if (/^https?:/.test(provider.source)) expect(provider.source).toMatch(/, .+$/);
      for (const offered of Object.values(provider.endpoints))
        for (const entry of isChoice(offered) ? offered.all : [offered])
          expect(pathOf(entry, { ...facts, proxyPath: '/x' })).toMatch(/^\/[^/]/);
    },
  );

  it('have names and aliases of their own', () => {
    const names = ids.flatMap((id) => [id, ...(findProvider(id)!.aliases ?? [])]);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    ['open-ai', 'openai'],
    ['fireworks', 'fireworks-ai'],
    ['azure-foundry', 'azure-ai'],
  ])('are found by the name %s, too', (alias, id) => {
    expect(findProvider(alias)?.id).toBe(id);
  });

  it('do not know whom they do not list', () => {
    expect(findProvider('constructor')).toBeUndefined();
  });

  it('keep the demo at its local port, without authorisation, native in both chat formats', () => {
    const demo = findProvider('demo')!;
    expect(demo.baseUrl).toBe('http://127.0.0.1:8799/v1');
    expect(authHeaders(demo, { apiKey: 'unused', configurations: {} }, {})).toEqual({
      'anthropic-version': '2023-06-01',
    });
    for (const endpoint of ['chatComplete', 'complete', 'embed', 'listModels', 'messages'] as const)
      expect(findTranslation(demo, endpoint).mode).toBe('native');
  });
});

describe('findTranslation', () => {
  const anthropic = findProvider('anthropic')!;

  it('is made once per pair', () => {
    expect(findTranslation(anthropic, 'messages')).toBe(findTranslation(anthropic, 'messages'));
  });

  it('refuses what the provider does not offer, by its name', () => {
    expect(() => findTranslation(anthropic, 'embed')).toThrow(
      expect.objectContaining({ code: 'provider.endpoint_unsupported', status: 400 }),
    );
  });

  it('passes anything through unread at the proxy endpoint', () => {
    const call = findTranslation(anthropic, 'proxy');
    expect(call.decode(Buffer.from('\x00\xff'), contextFor(anthropic), okHead)).toEqual({
      body: undefined,
      facts: {},
    });
    const stream = call.openStream(contextFor(anthropic), {});
    expect(stream.push(Buffer.from('x')).toString()).toBe('x');
    stream.end();
    expect(stream.phase).toBe('complete');
  });

  it.each([
    ['azure-openai', '/deployments/d/chat/completions', 'openai-chat'],
    ['azure-openai', '/deployments/d/completions', 'openai-completions'],
    ['azure-openai', '/v1/responses', 'openai-responses'],
    ['azure-openai', '/deployments/d/images/generations', 'openai-images'],
    ['azure-openai', '/deployments/d/audio/speech', 'openai-speech'],
    ['azure-openai', '/files', undefined],
    ['azure-ai', '/v1/messages', 'anthropic-messages'],
    ['azure-ai', '/threads/t/messages', undefined],
    ['google', '/v1beta/models/gemini-3-pro:generateContent', 'gemini'],
    // Below a host that has the version, or more, in its own address.
    ['google', '/models/gemini-3-pro:streamGenerateContent', 'gemini'],
    ['google', '/own/v1/tunedModels/t:generateContent', 'gemini'],
    ['google', '/v1beta/models/gemini-3-pro:countTokens', 'google/count-tokens'],
    ['bedrock', '/model/us.anthropic.claude-opus-4-6-v1%3A0/invoke', 'anthropic-messages'],
    ['bedrock', '/model/meta.llama3-8b-instruct-v1%3A0/invoke', 'bedrock/invoke'],
    ['bedrock', '/model/m/async-invoke', undefined],
    ['databricks', '/ai-gateway/mlflow/v1/embeddings', 'openai-embeddings'],
    ['openai', '/v1/chat/completions', 'openai-chat'],
    ['openai', '/V1//Chat/%63ompletions/', 'openai-chat'],
    ['openai', '/completions', 'openai-completions'],
    ['openai', '/evals/completions', undefined],
    ['anthropic', '/v1/messages', 'anthropic-messages'],
    ['anthropic', '/v1/threads/t/messages', undefined],
    ['groq', '/openai/v1/chat/completions', 'openai-chat'],
    ['mistral-ai', '/chat/completions', 'openai-chat'],
    ['mistral-ai', '/v1/fim/completions', 'openai-chat'],
    ['mistral-ai', '/v1/conversations', undefined],
    ['google', '/v1beta//models/gemini-3-pro%3AgenerateContent', 'gemini'],
    ['cohere', '/v2/chat', 'cohere-chat'],
    ['cohere', '/chat', 'cohere-chat'],
    ['cohere', '/v2/embed', 'cohere/embeddings'],
    ['cohere', '/v1/chat', undefined],
    ['databricks', '/serving-endpoints/mine/invocations', 'openai-chat'],
    ['sagemaker', '/endpoints/mine/invocations-response-stream', 'openai-chat'],
    ['oracle', '/20231130/actions/chat', 'oci-chat'],
    ['deepgram', '/v1/listen', 'deepgram/listen'],
    ['fal-ai', '/fal-ai/flux/dev', undefined],
    ['google', '/v1beta/models/gemini-embedding-2:embedContent', 'google/embeddings'],
    [
      'vertex-ai',
      '/v1/projects/p/locations/l/publishers/google/models/imagen-4:predict',
      'vertex-ai/embeddings',
    ],
    ['vertex-ai', '/v1/projects/p/locations/l/publishers/google/models/m:tuneModel', undefined],
    ['workers-ai', '/run/@cf/black-forest-labs/flux-1-schnell', 'workers-ai/images'],
  ])('knows what passes through %s at %s', (id, path, format) => {
    expect(findPassThrough(findProvider(id)!, path)?.translation.entry.format).toBe(format);
  });

  it('reads usage of embeddings and completions, and leaves models alone', () => {
    const openai = findProvider('openai')!;
    const usage = { prompt_tokens: 3, total_tokens: 3 };
    const read = (endpoint: 'embed' | 'complete' | 'listModels', body: object) =>
      findTranslation(openai, endpoint).decode(
        Buffer.from(JSON.stringify(body)),
        contextFor(openai),
        okHead,
      );
    expect(read('embed', { data: [], model: 'e', usage }).facts).toMatchObject({
      model: 'e',
      usage: { inputTokens: 3, outputTokens: 0 },
    });
    expect(
      read('complete', { choices: [{ text: 'x', finish_reason: 'length' }], usage }).facts,
    ).toMatchObject({ finishReason: 'length' });
    expect(read('listModels', [])).toEqual({ body: undefined, facts: {} });
  });
});

describe('authHeaders', () => {
  it('sends Anthropic a subscription’s token as one, without a key beside it', () => {
    const headers = (apiKey: string) =>
      authHeaders(findProvider('anthropic')!, { apiKey, configurations: {} }, {});
    expect(headers('sk-ant-oat01-x')).toEqual({
      authorization: 'Bearer sk-ant-oat01-x',
      'anthropic-version': '2023-06-01',
    });
    expect(headers('')).toEqual({ 'anthropic-version': '2023-06-01' });
  });

  it('sends Anthropic its key, its version and the caller’s betas', () => {
    const headers = authHeaders(
      findProvider('anthropic')!,
      { apiKey: 'k', configurations: {} },
      { 'anthropic-beta': 'bare', 'x-service-anthropic-beta': 'prefixed', cookie: 'no' },
    );
    expect(headers).toEqual({
      'x-api-key': 'k',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'prefixed',
    });
    expect(
      withRequestHeaders(headers, { 'anthropic-beta': 'files, prefixed' })['anthropic-beta'],
    ).toBe('prefixed,files');
  });

  it('sends Anthropic which workspace and whose profile is meant, the credential’s before the caller’s', () => {
    const asked = { 'anthropic-workspace-id': 'w-asked', 'anthropic-user-profile-id': 'u-asked' };
    const headers = (id: string, configurations: JsonObject = {}) =>
      authHeaders(findProvider(id)!, { apiKey: 'k', configurations }, asked);
    expect(headers('anthropic')).toMatchObject(asked);
    const kept = { anthropic_workspace_id: 'w', anthropic_user_profile_id: 'u' };
    expect(headers('anthropic', kept)).toMatchObject({
      'anthropic-workspace-id': 'w',
      'anthropic-user-profile-id': 'u',
    });
    // Beside somebody else's credential neither is the caller's to say.
    expect([...accountHeaders(findProvider('anthropic')!)]).toEqual(
      expect.arrayContaining(Object.keys(asked)),
    );
    // Its own setting says so where the workspace is a part of the address, or of the account.
    for (const id of ['claude-platform-aws', 'claude-google-cloud'])
      expect(headers(id)).not.toHaveProperty('anthropic-workspace-id');
  });

  it('lets OpenAI’s organisation and project of the credential win over the caller’s', () => {
    const credential = {
      apiKey: 'k',
      configurations: { openai_organization: 'org-a', openai_project: '' },
    };
    expect(
      authHeaders(findProvider('openai')!, credential, {
        'x-service-openai-organization': 'org-b',
        'openai-project': 'p',
      }),
    ).toEqual({ authorization: 'Bearer k', 'openai-organization': 'org-a', 'openai-project': 'p' });
  });

  it('sends no authorisation without a key', () => {
    expect(authHeaders(findProvider('vllm')!, { apiKey: '', configurations: {} }, {})).toEqual({});
  });

  it.each(['groq', 'mistral-ai', 'cerebras'])(
    '%s, which refuses what it does not know, is not sent the fields of OpenAI that Codex always has',
    (id) => {
      const provider = findProvider(id)!;
      const request = { model: 'm', input: 'x', prompt_cache_key: 'k', text: { verbosity: 'low' } };
      // Asked for chat, as a model is that has no responses there.
      const { createModelResponse: _, ...endpoints } = provider.endpoints;
      const chatOnly = { ...provider, endpoints };
      const { body, dropped } = findTranslation(chatOnly, 'createModelResponse').encode(
        request,
        contextFor(chatOnly, true, { model: 'm', request }),
      );
      expect(Object.keys(body ?? {})).toEqual(['model', 'messages']);
      expect(dropped).toEqual(['text.verbosity', 'prompt_cache_key']);
    },
  );
});
