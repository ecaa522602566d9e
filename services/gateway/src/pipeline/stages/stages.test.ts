import { configCaps } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { config } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import {
  type ExampleRequest,
  exampleBundle,
  exampleExchange,
  exampleKey,
  exampleReply,
  noneNewer,
  refusal,
} from '../../../test/exchange.ts';
import { ConfigCompiler } from '../../compiled/config-compiler.ts';
import type { Exchange, ModelExchange } from '../../exchange/exchange.ts';
import type { ConfigStore } from '../../held/config-store.ts';
import { requestFacts } from '../../limits/request-facts.ts';
import type { UsageRecorder } from '../../usage/usage-recorder.ts';
import type { Stage } from '../pipeline.ts';
import { authenticate } from './authenticate.ts';
import { readJsonRequest, readProxyRequest } from './read-request.ts';
import { recordOutcome } from './record-outcome.ts';
import { resolveConfig } from './resolve-config.ts';

const next = async () => exampleReply;
const run = (stage: Stage, exchange: Exchange) => stage(exchange, next);
const silent = { error: () => {} } as never;

describe('authenticate', () => {
  const stage = (key = exampleKey(), bundle = exampleBundle()) =>
    authenticate({
      heldKey: (secret: string) => (secret === 'known' ? key : undefined),
      findKey: async () => undefined,
      bundle: () => bundle,
    } as unknown as ConfigStore);
  const as = (secret: string, over: ExampleRequest = {}) =>
    exampleExchange({ ...over, headers: { 'x-service-api-key': secret, ...over.headers } });

  it.each<[string, Exchange, Stage, string]>([
    ['no key', exampleExchange(), stage(), 'auth.missing_key'],
    ['an unknown key', as('other'), stage(), 'auth.invalid_key'],
    ['an expired key', as('known'), stage(exampleKey({ expiresAtMs: 1n })), 'auth.expired_key'],
    [
      'an organisation key',
      as('known'),
      stage(exampleKey({ type: config.KeyType.ORGANISATION_SERVICE })),
      'auth.wrong_key_type',
    ],
    ['no scope', as('known'), stage(exampleKey({ scopes: ['logs.view'] })), 'auth.missing_scope'],
    [
      'a scope for lists, at a model',
      as('known'),
      stage(exampleKey({ scopes: ['virtual_keys:list'] })),
      'auth.missing_scope',
    ],
    [
      'a scope for lists, at the list',
      as('known', { endpoint: 'listModels' }),
      stage(exampleKey({ scopes: ['virtual_keys:list'] })),
      'none',
    ],
    [
      'a colon for the dot',
      as('known'),
      stage(exampleKey({ scopes: ['completions:write'] })),
      'none',
    ],
  ])('%s', async (_name, exchange, tested, code) => {
    expect(await refusal(() => run(tested, exchange))).toMatchObject({ code });
  });

  it('puts the workspace’s metadata over the key’s over the request’s', async () => {
    const exchange = as('known', {
      headers: { 'x-service-metadata': '{"a":"request","b":"request","c":"request"}' },
    });
    await run(
      stage(
        exampleKey({ metadata: { b: 'key', c: 'key' } }),
        exampleBundle({ metadata: { c: 'workspace' } }),
      ),
      exchange,
    );
    expect(exchange.metadata).toEqual({ a: 'request', b: 'key', c: 'workspace' });
  });
});

describe('resolveConfig', () => {
  const saved = exampleBundle({}, [
    { id: 'c1', slug: 'pc-one', versionId: 'v', name: 'One', bodyJson: '{"provider":"openai"}' },
    { id: 'c2', slug: 'pc-bad', versionId: 'v', name: 'Bad', bodyJson: '{"provider":5}' },
  ]);
  const configs = new ConfigCompiler({ caps: configCaps, knownChecks: new Set() });
  const stage = resolveConfig({
    blockInlineConfig: false,
    strictParams: false,
    configs,
    newer: noneNewer,
  });
  const withConfig = (value: string | undefined, over: Partial<config.Key> = {}) =>
    exampleExchange({
      bundle: saved,
      key: exampleKey(over),
      headers: value === undefined ? {} : { 'x-service-config': value },
    });

  it.each<[string, Exchange, string]>([
    ['a slug', withConfig('pc-one'), 'none'],
    ['an id', withConfig('c1'), 'none'],
    ['an unknown slug', withConfig('pc-none'), 'config.not_found'],
    ['a saved one that cannot be run', withConfig('pc-bad'), 'config.invalid'],
    ['inline', withConfig('{"provider":"openai"}'), 'none'],
    ['inline, broken', withConfig('{'), 'config.invalid'],
    ['inline, no object', withConfig('[]'), 'config.not_found'],
    [
      'inline, deep',
      withConfig(`{"override_params":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`),
      'config.invalid',
    ],
    ['the key’s own', withConfig(undefined, { configSlug: 'pc-one' }), 'none'],
    [
      'the key’s own, named again, when no other is allowed',
      withConfig('pc-one', { configSlug: 'pc-one', allowConfigOverride: false }),
      'none',
    ],
    [
      'another when none is allowed',
      withConfig('{"provider":"openai"}', { configSlug: 'pc-one', allowConfigOverride: false }),
      'config.override_forbidden',
    ],
  ])('%s', async (_name, exchange, code) => {
    expect(await refusal(() => run(stage, exchange))).toMatchObject({ code });
  });

  it.each<[string, Exchange, string | undefined]>([
    ['pc-one', withConfig('pc-one', { configSlug: 'pc-key' }), 'header-slug'],
    ['inline', withConfig('{"provider":"openai"}', { configSlug: 'pc-key' }), 'inline'],
    ['pc-key', withConfig(undefined, { configSlug: 'pc-key' }), 'key-default'],
    ['pc-workspace', withConfig(undefined), 'workspace-default'],
    // Archived configs are in no bundle.
    ['pc-workspace', withConfig(undefined, { configSlug: 'pc-archived' }), 'workspace-default'],
  ])(
    'the request’s goes before the key’s and that before the workspace’s: %s',
    async (slug, exchange, source) => {
      exchange.bundle = exampleBundle(
        { defaultConfigSlug: 'pc-workspace' },
        ['pc-one', 'pc-key', 'pc-workspace'].map((each) => ({
          id: `id-${each}`,
          slug: each,
          versionId: `v-${each}`,
          name: each,
          bodyJson: '{"provider":"openai"}',
        })),
      );
      expect(requestFacts(exchange).configSlug).toBe(slug === 'inline' ? undefined : slug);
      await run(stage, exchange);
      expect(exchange.config).toMatchObject({
        source,
        saved: slug === 'inline' ? undefined : { slug },
      });
    },
  );

  it('no config anywhere is none', async () => {
    const exchange = withConfig(undefined);
    await run(stage, exchange);
    expect(exchange.config).toBeUndefined();
  });

  it('a config of the request replaces the key’s, it is not merged', async () => {
    const exchange = withConfig('{"request_timeout":5}', { configSlug: 'pc-one' });
    await run(stage, exchange);
    expect(exchange.config?.compiled.namesProvider).toBe(false);
  });

  it.each([
    ['x-service-config', ' {"provider":"openai"}', 'inline_config_blocked'],
    ['x-service-provider', 'openai', 'inline_provider_blocked'],
    ['x-service-custom-host', 'https://a.example', 'inline_custom_host_blocked'],
    ['x-service-forward-headers', 'x-a', 'inline_forward_headers_blocked'],
    ['x-service-provider', '@saved', 'none'],
    ['x-service-virtual-key', 'saved', 'none'],
    ['x-service-config', 'pc-one', 'none'],
  ])('saved-only mode, %s: %s', async (name, value, code) => {
    for (const [tested, bundle] of [
      [
        resolveConfig({ blockInlineConfig: true, strictParams: false, configs, newer: noneNewer }),
        saved,
      ],
      [stage, { ...saved, source: { ...saved.source, blockInlineConfig: true } }],
    ] as const) {
      const exchange = exampleExchange({ bundle, key: exampleKey(), headers: { [name]: value } });
      expect(await refusal(() => run(tested, exchange))).toMatchObject({ code });
    }
  });
});

describe('readJsonRequest', () => {
  it.each<[string, ExampleRequest, { code: string; field?: string }]>([
    ['plain', { body: '{"model":"m"}' }, { code: 'none' }],
    ['with a BOM', { body: '\ufeff{"model":"m"}' }, { code: 'none' }],
    ['stream null', { body: '{"stream":null}' }, { code: 'none' }],
    [
      'a model of a megabyte',
      { body: JSON.stringify({ model: 'm'.repeat(1e6) }) },
      { code: 'request.invalid_field', field: 'body.model' },
    ],
    [
      'compressed',
      { body: '{}', headers: { 'content-encoding': 'gzip' } },
      { code: 'request.unsupported_content_type', field: 'content-encoding' },
    ],
    [
      'a vendor’s JSON',
      { body: '{}', headers: { 'content-type': 'application/x+json' } },
      { code: 'none' },
    ],
    [
      'a form',
      { body: '{}', headers: { 'content-type': 'multipart/form-data' } },
      { code: 'request.unsupported_content_type', field: 'content-type' },
    ],
  ])('%s', async (_name, request, expected) => {
    expect(await refusal(() => run(readJsonRequest, exampleExchange(request)))).toEqual(expected);
  });

  it('takes the body’s user for the end user unless metadata names one', async () => {
    const exchange = exampleExchange({ body: '{"user":"body"}' });
    await run(readJsonRequest, exchange);
    expect(exchange.metadata._user).toBe('body');
    const named = exampleExchange({
      body: '{"user":"body"}',
      headers: { 'x-service-metadata': '{"_user":"header"}' },
    });
    await run(readJsonRequest, named);
    expect(named.metadata._user).toBe('header');
  });
});

describe('readProxyRequest', () => {
  const proxied = (body: string, headers: Record<string, string> = {}) =>
    exampleExchange({
      isProxy: true,
      body,
      headers: {
        'content-type': 'application/json',
        'content-length': String(body.length),
        ...headers,
      },
    });

  it.each<[string, ModelExchange, string, boolean]>([
    ['small JSON is read', proxied('{"model":"m"}'), 'm', true],
    ['broken JSON is only kept', proxied('{"model":'), '', true],
    ['a name that is none is not taken', proxied(`{"model":"${'m'.repeat(2000)}"}`), '', true],
    ['compressed JSON is left', proxied('{"model":"m"}', { 'content-encoding': 'br' }), '', false],
    ['other types are left', proxied('{"model":"m"}', { 'content-type': 'text/plain' }), '', false],
    ['a large body is left', proxied('{}', { 'content-length': '9999999' }), '', false],
  ])('%s', async (_name, exchange, model, isHeld) => {
    await run(readProxyRequest, exchange);
    expect([exchange.subject.model, exchange.subject.body !== undefined]).toEqual([model, isHeld]);
  });
});

describe('recordOutcome', () => {
  const recorded: string[] = [];
  const recorder = {
    refuse: async (_exchange: Exchange, error: GatewayError) => void recorded.push(error.code),
  } as unknown as UsageRecorder;
  const failing =
    (set: (exchange: Exchange) => void, error: unknown = new GatewayError('config.not_found')) =>
    async () => {
      recorded.length = 0;
      const exchange = exampleExchange();
      set(exchange);
      const outcome = await refusal(() =>
        recordOutcome(recorder, silent)(exchange, () => Promise.reject(error)),
      );
      return { outcome: outcome.code, recorded: [...recorded] };
    };

  it('records what ended before an attempt, once', async () => {
    const run = failing((exchange) => (exchange.bundle = exampleBundle()));
    expect(await run()).toEqual({ outcome: 'config.not_found', recorded: ['config.not_found'] });
  });

  it('leaves attempts to record themselves, and strangers unrecorded', async () => {
    const attempted = failing((exchange) => {
      exchange.bundle = exampleBundle();
      exchange.progress.attempts = 1;
    });
    expect((await attempted()).recorded).toEqual([]);
    expect((await failing(() => {})()).recorded).toEqual([]);
  });

  it('turns what is not an error of ours into one', async () => {
    const run = failing((exchange) => (exchange.bundle = exampleBundle()), new TypeError('oops'));
    expect(await run()).toEqual({ outcome: 'internal', recorded: ['internal'] });
  });
});
