import { type ConfigNode, configCaps, idleSettings, parseConfigDocument } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { type CompileOptions, compileConfig, directConfig } from './compile-config.ts';

function parsed(document: object): ConfigNode {
  const result = parseConfigDocument(document, 'ignore');
  if (!result.ok) throw new Error(result.faults.join('; '));
  return result.config;
}

function compile(document: object, options?: CompileOptions) {
  return compileConfig(parsed(document), options);
}

function faultOf(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('compileConfig', () => {
  it('takes a flat config as its own target', () => {
    const { targets, strategyMode, namesProvider, staticPlan } = compile({
      provider: '@openai-prod',
      request_timeout: 500,
    });
    expect({ strategyMode, namesProvider }).toEqual({
      strategyMode: 'single',
      namesProvider: true,
    });
    expect(targets).toMatchObject([
      { index: 0, path: 'config', provider: '@openai-prod', requestTimeoutMs: 500 },
    ]);
    expect(staticPlan?.root).toEqual({ kind: 'target', target: targets[0] });
  });

  it('knows when the request must name the provider', () => {
    expect(compile({ retry: { attempts: 1 } }).namesProvider).toBe(false);
    expect(compile({ virtual_key: 'a' }).namesProvider).toBe(true);
    expect(compile({ targets: [{ passthrough: true }] }).namesProvider).toBe(true);
    expect(directConfig.namesProvider).toBe(false);
    expect(directConfig.targets).toMatchObject([{ path: 'config', provider: undefined }]);
  });

  it('hands settings down, the nearest word winning', () => {
    const { targets } = compile({
      strategy: { mode: 'fallback' },
      requestTimeout: 1000,
      first_byte_timeout: 300,
      idle_timeout: 400,
      custom_host: 'https://root.example',
      forward_headers: ['x-root'],
      strict_open_ai_compliance: false,
      strict_params: true,
      adapt: true,
      fallback_on_content_filter: false,
      stream_recovery: 'continue',
      promptCache: { breakpoints: 'auto' },
      retry: { attempts: 3, on_status_codes: [500] },
      cache: { mode: 'simple', max_age: 60 },
      hedge: { delay: 50 },
      targets: [
        { provider: '@a' },
        {
          provider: '@b',
          request_timeout: 200,
          custom_host: 'https://leaf.example',
          forward_headers: ['x-leaf'],
          strict_open_ai_compliance: true,
          strictParams: false,
          adapt: false,
          fallbackOnContentFilter: true,
          stream_recovery: 'off',
          prompt_cache: { breakpoints: 'off', ttl: '1h' },
          retry: { attempts: 1, use_retry_after_header: true },
          cache: { mode: 'simple' },
          hedge: { delay: 9, budget_percentage: 20 },
        },
      ],
    });
    expect(targets).toMatchObject([
      {
        requestTimeoutMs: 1000,
        firstByteTimeoutMs: 300,
        idleTimeoutMs: 400,
        customHost: 'https://root.example',
        forwardHeaders: ['x-root'],
        strictOpenAiCompliance: false,
        strictParams: true,
        adapts: true,
        endsOnContentFilter: true,
        recoversStreams: true,
        cachePrefix: { ttl: '5m' },
        retry: { attempts: 3, statusCodes: new Set([500]), usesWaitHints: false },
        cache: { maxAgeS: 60, semantic: undefined },
        hedge: { delayMs: 50, budgetPercentage: 5 },
      },
      {
        requestTimeoutMs: 200,
        firstByteTimeoutMs: 300,
        idleTimeoutMs: 400,
        customHost: 'https://leaf.example',
        forwardHeaders: ['x-leaf'],
        strictOpenAiCompliance: true,
        strictParams: false,
        adapts: false,
        endsOnContentFilter: false,
        recoversStreams: false,
        cachePrefix: undefined,
        retry: { attempts: 1, usesWaitHints: true },
        cache: { maxAgeS: undefined, semantic: undefined },
        hedge: { delayMs: 9, budgetPercentage: 20 },
      },
    ]);
    // A rule is replaced whole: the codes of the parent do not shine through.
    expect(targets[1]?.retry?.statusCodes.has(429)).toBe(true);
  });

  it('merges parameters key by key and adds up what is to be dropped', () => {
    const { targets } = compile({
      override_params: { a: { x: 1 }, b: 1 },
      default_params: { c: 1, d: 1 },
      drop_params: ['p'],
      targets: [
        {
          override_params: { a: { y: 2 } },
          drop_params: ['q[*].r'],
          targets: [{ provider: '@a', override_params: { z: 3 }, default_params: { d: 2 } }],
        },
      ],
    });
    expect(targets[0]).toMatchObject({
      path: 'config.targets[0].targets[0]',
      overrideParams: { a: { y: 2 }, b: 1, z: 3 },
      defaultParams: { c: 1, d: 2 },
    });
    expect(targets[0]?.dropParams).toHaveLength(2);
    expect(targets[0]?.overrideParams).toEqual({ a: { y: 2 }, b: 1, z: 3 });
  });

  it('takes identity and credentials from the target alone', () => {
    const { targets } = compile({
      strategy: { mode: 'single' },
      api_key: 'root',
      openai_project: 'root',
      targets: [{ virtual_key: 'main', name: 't', openai_organization: 'org' }],
    });
    expect(targets[0]).toMatchObject({ provider: '@main', name: 't', apiKey: undefined });
    expect(targets[0]?.configurations).toEqual({ openai_organization: 'org' });
  });

  it('keeps provider-specific settings apart from everything else', () => {
    const { targets } = compile({
      provider: 'azure-openai',
      api_key: 'sk',
      resource_name: 'r',
      deployments: [{ deployment_id: 'd' }],
      input_guardrails: [{ wordCount: {} }],
      retry: { attempts: 1 },
    });
    expect(targets[0]?.apiKey).toBe('sk');
    expect(targets[0]?.configurations).toEqual({
      resource_name: 'r',
      deployments: [{ deployment_id: 'd' }],
    });
  });

  it('takes the circuit breaker from the strategy before the node, from the target before both', () => {
    const rule = (threshold: number) => ({
      failure_threshold: threshold,
      cooldown_interval: 30_000,
    });
    const config = compile({
      cb_config: rule(1),
      strategy: { mode: 'fallback', cb_config: rule(2) },
      targets: [
        { provider: '@a' },
        { provider: '@b', cb_config: rule(3) },
        { strategy: { mode: 'fallback' }, targets: [{ provider: '@c' }] },
      ],
    });
    expect(config.targets.map(({ breaker }) => breaker?.failureThreshold)).toEqual([2, 3, 2]);
    expect(config.hasBreakers).toBe(true);
    expect(config.staticPlan).toBeUndefined();
  });

  it('knows the targets that name a prompt', () => {
    const { prompting } = compile({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@a' }, { prompt_id: 'pp-1' }, { targets: [{ prompt_id: 'pp-2@3' }] }],
    });
    expect(prompting.map(({ path, promptId }) => [path, promptId])).toEqual([
      ['config.targets[1]', 'pp-1'],
      ['config.targets[2].targets[0]', 'pp-2@3'],
    ]);
  });

  it('hands a semantic cache down, and a target’s own replaces all of it', () => {
    const embedding = { provider: '@vectors', model: 'text-embedding-3-small' };
    const { targets } = compile({
      strategy: { mode: 'fallback' },
      cache: { mode: 'semantic', similarity_threshold: 0.9, embedding, shadow: true },
      targets: [
        { provider: '@a' },
        { provider: '@b', cache: { mode: 'semantic', max_age: 60 } },
        { provider: '@c', cache: { mode: 'simple' } },
      ],
    });
    expect(targets.map(({ cache }) => cache)).toEqual([
      { maxAgeS: undefined, semantic: { threshold: 0.9, embedding, isShadow: true } },
      { maxAgeS: 60, semantic: { threshold: undefined, embedding: undefined, isShadow: false } },
      { maxAgeS: undefined, semantic: undefined },
    ]);
  });

  it('refuses malformed conditions, fields and paths with their places', () => {
    const conditional = (query: object, then = 'a') => ({
      targets: [
        {
          strategy: { mode: 'conditional', conditions: [{ query, then }] },
          targets: [{ name: 'a', provider: '@a' }],
        },
      ],
    });
    const at = 'config.targets[0].strategy.conditions[0]';
    expect(faultOf(() => compile(conditional({ 'metadata.x': { $foo: 1 } })))).toMatchObject({
      code: 'config.invalid',
      field: `${at}.query.metadata.x.$foo`,
      faults: [expect.stringContaining(`path: ${at}.query.metadata.x.$foo, message: `)],
    });
    expect(
      faultOf(() => compile(conditional({ 'params.model': { $regex: '(a)\\1' } }))),
    ).toMatchObject({ field: `${at}.query.params.model.$regex` });
    expect(faultOf(() => compile({ drop_params: ['a', 'b['] }))).toMatchObject({
      field: 'config.drop_params[1]',
    });
    const sticky = { enabled: true, hash_fields: ['metadata.a', 'user'] };
    expect(
      faultOf(() =>
        compile({ strategy: { mode: 'loadbalance', sticky }, targets: [{ provider: '@a' }] }),
      ),
    ).toMatchObject({ field: 'config.strategy.sticky.hash_fields[1]' });
  });

  it('applies tighter caps when it is given some', () => {
    const document = { targets: Array.from({ length: 3 }, () => ({ provider: '@a' })) };
    const caps = { ...configCaps, rootTargetsMax: 2 };
    expect(faultOf(() => compile(document, { caps }))).toMatchObject({ field: 'config.targets' });
    expect(compile(document).targets).toHaveLength(3);
  });
});

describe('references to other configs', () => {
  const saved: Record<string, object> = {
    leaf: { provider: '@leaf', override_params: { b: 2 }, name: 'inner', weight: 9 },
    chain: {
      strategy: { mode: 'fallback', on_status_codes: [429] },
      retry: { attempts: 2 },
      targets: [{ provider: '@x' }, { config: 'leaf' }],
    },
    alias: { config: 'chain', request_timeout: 77 },
    a: { targets: [{ provider: '@a' }, { targets: [{ config: 'b' }] }] },
    b: { config: 'a' },
    self: { config: 'self' },
  };
  const findConfig = (slug: string) => {
    const document = saved[slug];
    return document === undefined ? undefined : parsed(document);
  };

  it('tell what an admin wrote from what came with the request', () => {
    const secret: Record<string, object> = {
      key: { provider: 'openai', api_key: 'sk-admin' },
      host: { provider: 'openai', api_key: 'sk-admin', custom_host: 'https://admin.example' },
      both: { targets: [{ config: 'key' }], forward_headers: ['x-a'] },
    };
    const find = (slug: string) => parsed(secret[slug] as object);
    const authors = (document: object, options: CompileOptions) =>
      compile(document, options).targets.map(({ by, customHostBy, forwardHeadersBy }) =>
        [by, customHostBy, forwardHeadersBy].join(' '),
      );
    // The host of an inline config reaches into the saved ones below it, and stays the caller's.
    const inline = {
      custom_host: 'https://caller.example',
      forward_headers: ['x-b'],
      targets: [{ config: 'key' }, { config: 'host' }, { config: 'both' }, { provider: 'openai' }],
    };
    expect(authors(inline, { findConfig: find })).toEqual([
      'admin caller caller',
      'admin admin caller',
      'admin caller admin',
      'caller caller caller',
    ]);
    expect(authors({ config: 'host' }, { findConfig: find })).toEqual(['admin admin caller']);
    expect(authors(inline, { findConfig: find, slug: 'saved' })).toEqual(
      Array(4).fill('admin admin admin'),
    );
  });

  it('stand for the config itself, with inheritance going through', () => {
    const { targets, root } = compile(
      {
        strategy: { mode: 'loadbalance' },
        override_params: { a: 1, b: 1 },
        targets: [
          { provider: '@first', weight: 3 },
          { name: 'outer', weight: 1, config: 'alias', request_timeout: 5 },
        ],
      },
      { findConfig },
    );
    expect(targets).toMatchObject([
      { path: 'config.targets[0]', provider: '@first' },
      {
        path: 'config.targets[1].targets[0]',
        provider: '@x',
        requestTimeoutMs: 77,
        retry: { attempts: 2 },
        overrideParams: { a: 1, b: 1 },
      },
      {
        path: 'config.targets[1].targets[1]',
        provider: '@leaf',
        overrideParams: { a: 1, b: 2 },
      },
    ]);
    if (root.kind !== 'strategy') throw new Error('the root is a strategy');
    expect(root.children.map(({ name }) => name)).toEqual([undefined, 'outer']);
  });

  it('may make up a whole config', () => {
    const config = compile({ config: 'leaf' }, { findConfig });
    expect(config.targets).toMatchObject([{ path: 'config', provider: '@leaf' }]);
    expect(config.namesProvider).toBe(true);
  });

  it('are refused by name when there is no such config', () => {
    const error = faultOf(() =>
      compile({ targets: [{ provider: '@a' }, { config: 'gone' }] }, { findConfig }),
    );
    expect(error).toMatchObject({ code: 'config.invalid', field: 'config.targets[1].config' });
    expect(error.message).toContain('"gone"');
    expect(faultOf(() => compile({ config: 'leaf' })).field).toBe('config.config');
  });

  it.each([
    ['a', 'config.targets[0].targets[1].targets[0].config', 'a → b → a'],
    ['b', 'config.targets[0].targets[1].targets[0].config', 'b → a → b'],
    ['self', 'config.targets[0].config', 'self → self'],
  ])('that lead round from %s are refused where the circle closes', (slug, field, chain) => {
    const error = faultOf(() => compile({ targets: [{ config: slug }] }, { findConfig }));
    expect(error.field).toBe(field);
    expect(error.message).toContain(chain);
  });

  it('to the document itself are found when it says its own slug', () => {
    const document = { targets: [{ config: 'me' }] };
    const error = faultOf(() =>
      compile(document, { slug: 'me', findConfig: () => parsed(document) }),
    );
    expect(error.field).toBe('config.targets[0].config');
    expect(error.message).toContain('me → me');
  });

  it('may be used twice side by side', () => {
    const config = compile({ targets: [{ config: 'leaf' }, { config: 'leaf' }] }, { findConfig });
    expect(config.targets.map(({ path }) => path)).toEqual([
      'config.targets[0]',
      'config.targets[1]',
    ]);
  });

  it('do not multiply without end', () => {
    // Ten levels of a hundred references each would be 10^20 targets.
    const wide = (slug: string) => ({
      targets: Array.from({ length: 100 }, () => ({ config: slug })),
    });
    const find = (slug: string) => {
      const level = Number(slug);
      return parsed(level === 10 ? { provider: '@a' } : wide(String(level + 1)));
    };
    const error = faultOf(() => compile(wide('1'), { findConfig: find }));
    expect(error.message).toContain('4000 targets');
    const long = (slug: string) => parsed({ config: String(Number(slug) + 1) });
    expect(faultOf(() => compile({ config: '0' }, { findConfig: long })).message).toContain('32');
  });
});

describe('what does nothing where it stands', () => {
  const two = [{ provider: '@a' }, { provider: '@b' }];
  const rule = { failure_threshold: 3, cooldown_interval: 30_000 };
  const without = (document: object, path: string): object => {
    const copy = structuredClone(document) as Record<string, never>;
    const steps = path
      .replaceAll(/\[(\d+)\]/g, '.$1')
      .split('.')
      .slice(1);
    const last = steps.pop() ?? '';
    const holder = steps.reduce((inner, step) => inner[step] as never, copy);
    if (Array.isArray(holder)) holder.splice(Number(last));
    else delete holder[last];
    return copy;
  };

  it.each<[object, string[]]>([
    [{ provider: '@x', api_key: 'k', targets: [two[0]] }, ['provider', 'api_key']],
    [
      { strategy: { mode: 'fallback' }, aws_region: 'x', deployments: [], targets: two },
      ['aws_region', 'deployments'],
    ],
    [{ provider: '@x', virtual_key: 'y' }, ['provider']],
    [{ provider: '@y', virtual_key: 'y', weight: 2 }, ['weight']],
    [{ provider: '@y', on_status_codes: [500] }, ['on_status_codes']],
    [{ targets: two }, ['targets[1]']],
    [{ strategy: { mode: 'single' }, targets: two }, ['targets[1]']],
    [{ strategy: { mode: 'single', cb_config: rule }, targets: two }, []],
    [
      {
        strategy: { mode: 'fallback', default: 'x', conditions: [] },
        targets: [{ ...two[0], weight: 1 }, two[1]],
      },
      ['strategy.conditions', 'strategy.default', 'targets[0].weight'],
    ],
    [
      {
        strategy: { mode: 'loadbalance', on_status_codes: [500] },
        targets: [
          { ...two[0], weight: 3 },
          { targets: [two[1]], fetch_integrated_models: true },
        ],
      },
      ['strategy.on_status_codes', 'targets[1].fetch_integrated_models'],
    ],
    [{ strategy: { mode: 'fallback', on_status_codes: [429] }, targets: two }, []],
  ])('%j', (document, idle) => {
    const said = idleSettings(parsed(document)).map(({ path }) => path);
    expect(said).toEqual(idle.map((path) => `config.${path}`));
    // Each is what its name says: without it the config is the same.
    const { targets, staticPlan, namesProvider } = compile(document);
    for (const path of said) {
      const other = compile(without(document, path));
      const isTarget = path.endsWith(']');
      expect(other.targets).toEqual(isTarget ? targets.slice(0, 1) : targets);
      expect(other.staticPlan).toEqual(staticPlan);
      expect(other.namesProvider).toBe(namesProvider);
    }
  });

  it('is told of targets that a fallback never goes on to', () => {
    const paths = (on_status_codes: number[], more: object = {}) => {
      const strategy = { mode: 'fallback', on_status_codes, ...more };
      return idleSettings(parsed({ strategy, targets: two })).map(({ path }) => path);
    };
    expect(paths([])).toEqual(['config.targets[1]']);
    expect(paths([503])).toEqual([]);
    // While its circuit is open, the next one takes the place of the first.
    expect(paths([], { cb_config: rule })).toEqual([]);
  });

  it('is told of what stands beside a switch that is off', () => {
    const sticky = { enabled: false, ttl: 60, hash_fields: ['metadata.user'] };
    const document = {
      strategy: { mode: 'loadbalance', sticky },
      targets: [
        { ...two[0], retry: { attempts: 0, on_status_codes: [500] } },
        // Inherits none.
        { ...two[1], retry: { attempts: 0 } },
      ],
      retry: { attempts: 1, on_status_codes: [500] },
    };
    expect(idleSettings(parsed(document)).map(({ path }) => path)).toEqual([
      'config.strategy.sticky.hash_fields',
      'config.strategy.sticky.ttl',
      'config.targets[0].retry.on_status_codes',
    ]);
    const alone = { strategy: { mode: 'loadbalance', sticky: { enabled: false } }, targets: two };
    expect(idleSettings(parsed(alone))).toEqual([]);
  });

  it('is told of hooks that nobody waits for', () => {
    const hook = { id: 'h', async: true, deny: true, hold_ms: 100, stream_mode: 'end' };
    const other = { 'default.contains': {}, async: true, deny: false, softDeny200: true };
    const document = {
      before_request_hooks: [{ ...hook, async: false }, hook],
      targets: [{ output_guardrails: ['saved', other] }],
    };
    expect(idleSettings(parsed(document)).map(({ path }) => path)).toEqual([
      'config.before_request_hooks[1].deny',
      'config.before_request_hooks[1].hold_ms',
      'config.targets[0].output_guardrails[1].softDeny200',
    ]);
  });

  it('is told of values that are longer than any that a request says in its metadata', () => {
    const long = 'a'.repeat(129);
    // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
    const query = (asked: object) => ({ query: asked, then: 'a' });
    const strategy = {
      mode: 'conditional',
      default: 'a',
      conditions: [
        query({ 'metadata.url': long, 'params.model': long }),
        query({ $or: [{ 'metadata.a': 'b' }, { 'metadata.b': { $in: ['b', long] } }] }),
        query({ 'metadata.c': { $regex: long }, 'metadata.d': { $eq: 'a'.repeat(128) } }),
      ],
    };
    const document = { strategy, targets: [{ name: 'a', provider: '@a' }] };
    expect(idleSettings(parsed(document)).map(({ path }) => path)).toEqual([
      'config.strategy.conditions[0].query.metadata.url',
      'config.strategy.conditions[1].query.$or[1].metadata.b',
    ]);
  });

  it('is told of twenty times at most', () => {
    const targets = Array.from({ length: 40 }, () => ({ provider: '@a', weight: 1 }));
    expect(idleSettings(parsed({ strategy: { mode: 'fallback' }, targets }))).toHaveLength(20);
  });
});
