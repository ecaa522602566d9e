import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contextFor, okHead } from '../test/fixtures.ts';
import { baseUrlOf, pathOf } from './address.ts';
import { authHeaders, withRequestHeaders } from './auth-headers.ts';
import { specialists } from './catalog/specialists.ts';
import { findProvider, providerIds } from './catalog.ts';
import { isChoice, noFacts, prepareCall } from './wire-call.ts';

/** Those with a dialect of their own have a folder, and tests there. */
const folders = readdirSync(join(import.meta.dirname, 'adapters'));
const others = [...folders, 'openai', 'demo', ...specialists.map(({ id }) => id)];
const compatible = providerIds().filter((id) => !others.includes(id));

describe('compatible providers', () => {
  it('are ten', () => {
    expect(compatible).toHaveLength(10);
  });

  for (const id of compatible) {
    it(`${id} is called at the address and with the authorisation of its fixture`, () => {
      const file = join(import.meta.dirname, '../fixtures', `${id}.json`);
      const fixture = JSON.parse(readFileSync(file, 'utf8'));
      const provider = findProvider(id)!;
      const call = prepareCall(provider, 'chatComplete');
      expect(call.mode).toBe('native');
      expect({
        url: baseUrlOf(provider, call.entry, noFacts) + pathOf(call.entry, noFacts),
        headers: authHeaders(provider, { apiKey: fixture.apiKey, configurations: {} }, {}),
      }).toEqual(fixture.request);
    });

    it(`${id} gets the body as it came, but for a role it does not know`, () => {
      const provider = findProvider(id)!;
      const call = prepareCall(provider, 'chatComplete');
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
    });
  }
});

describe('entries', () => {
  it.each(providerIds())(
    '%s has a base without trailing slash, a source and paths that begin with one',
    (id) => {
      const provider = findProvider(id)!;
      const facts = {
        model: 'a-model',
        stream: false,
        setting: () => 'a-setting',
        request: { voice: 'a-voice' },
      };
      // Empty where a custom host must name it.
      if (provider.baseUrl !== '')
        expect(baseUrlOf(provider, undefined, facts)).toMatch(/^https?:\/\/[^/].*[^/]$/);
      expect(provider.source).not.toBe('');
      for (const offered of Object.values(provider.endpoints))
        for (const entry of isChoice(offered) ? offered.all : [offered])
          expect(pathOf(entry, facts)).toMatch(/^\//);
    },
  );

  it('does not know whom it does not list', () => {
    expect(findProvider('constructor')).toBeUndefined();
  });

  it('keeps the demo at its local port, without authorisation, native in both chat formats', () => {
    const demo = findProvider('demo')!;
    expect(demo.baseUrl).toBe('http://127.0.0.1:8799/v1');
    expect(authHeaders(demo, { apiKey: 'unused', configurations: {} }, {})).toEqual({
      'anthropic-version': '2023-06-01',
    });
    for (const endpoint of ['chatComplete', 'complete', 'embed', 'listModels', 'messages'] as const)
      expect(prepareCall(demo, endpoint).mode).toBe('native');
  });
});

describe('prepareCall', () => {
  const anthropic = findProvider('anthropic')!;

  it('is made once per pair', () => {
    expect(prepareCall(anthropic, 'messages')).toBe(prepareCall(anthropic, 'messages'));
  });

  it('refuses what the provider does not offer, by its name', () => {
    expect(() => prepareCall(anthropic, 'embed')).toThrow(
      expect.objectContaining({ code: 'provider.endpoint_unsupported', status: 400 }),
    );
  });

  it('passes anything through unread at the proxy endpoint', () => {
    const call = prepareCall(anthropic, 'proxy');
    expect(call.decode(Buffer.from('\x00\xff'), contextFor(anthropic), okHead)).toEqual({
      body: undefined,
      facts: {},
    });
    const stream = call.openStream(contextFor(anthropic), {});
    expect(stream.push(Buffer.from('x')).toString()).toBe('x');
    stream.end();
    expect(stream.phase).toBe('complete');
  });

  it('reads usage of embeddings and completions, and leaves models alone', () => {
    const openai = findProvider('openai')!;
    const usage = { prompt_tokens: 3, total_tokens: 3 };
    const read = (endpoint: 'embed' | 'complete' | 'listModels', body: object) =>
      prepareCall(openai, endpoint).decode(
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
});
