import { describe, expect, it } from 'vitest';
import { configCaps } from './config-caps.ts';
import { configPath, parseConfigDocument } from './parse-config.ts';

describe('parseConfigDocument', () => {
  it('accepts camelCase names and leaves user-owned maps alone', () => {
    const parsed = parseConfigDocument(
      { provider: 'openai', apiKey: 'k', overrideParams: { maxTokens: 5 } },
      'refuse',
    );
    expect(parsed).toEqual({
      ok: true,
      config: { provider: 'openai', api_key: 'k', override_params: { maxTokens: 5 } },
      ignored: [],
    });
  });

  it('names the path of every fault', () => {
    const parsed = parseConfigDocument(
      { targets: [{ provider: 'a', weight: -1 }, { retry: { attempts: 9 } }] },
      'refuse',
    );
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) {
      expect(parsed.field).toBe('config.targets[0].weight');
      expect(
        parsed.faults.some((fault) => fault.includes('config.targets[1].retry.attempts')),
      ).toBe(true);
    }
  });

  it('refuses unknown keys when saving and leaves them out inline, each by its path', () => {
    const document = {
      provider: 'openai',
      bogus: 1,
      targets: [{ provider: 'a', extra: true, retyr: { attempts: 2 } }],
    };
    const paths = ['config.targets[0].extra', 'config.targets[0].retyr', 'config.bogus'];
    const refused = parseConfigDocument(document, 'refuse', undefined, (key, known) =>
      known.includes('retry') ? `: ${key}` : ': nothing is known',
    );
    expect(refused).toEqual({
      ok: false,
      field: paths[0],
      faults: paths.map(
        (path) => `path: ${path}, message: is no field here: ${path.split('.').at(-1)}`,
      ),
    });
    expect(parseConfigDocument(document, 'ignore')).toEqual({
      ok: true,
      config: { provider: 'openai', targets: [{ provider: 'a' }] },
      ignored: paths,
    });
  });

  it('judges a key that is no field alike wherever objects of ours stand', () => {
    const breaker = { failure_threshold: 2, cooldown_interval: 30_000 };
    const check = { id: 'jwt', parameters: { own: true } };
    const hook = { id: 'h', checks: [check], on_fail: { feedback: { value: 1 } } };
    const document = {
      strategy: { mode: 'fallback', sticky: { enabled: false }, cb_config: breaker },
      retry: { attempts: 1 },
      cache: { mode: 'simple' },
      hedge: { delay: 100 },
      prompt_cache: { breakpoints: 'auto' },
      before_request_hooks: [hook],
      after_request_hooks: [hook],
      targets: [
        { provider: '@a', retry: { attempts: 1 }, cb_config: breaker },
        {
          strategy: {
            mode: 'conditional',
            // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
            conditions: [{ query: {}, then: 'x' }],
            default: 'x',
          },
          targets: [{ name: 'x', provider: '@b' }],
        },
      ],
    };
    // What lies within is the user's own.
    const owned = new Set(['query', 'parameters']);
    const places = (value: unknown, path: PropertyKey[] = []): PropertyKey[][] =>
      typeof value !== 'object' || value === null || owned.has(String(path.at(-1)))
        ? []
        : [
            ...(Array.isArray(value) ? [] : [path]),
            ...Object.entries(value).flatMap(([key, inner]) =>
              places(inner, [...path, Array.isArray(value) ? Number(key) : key]),
            ),
          ];
    expect(parseConfigDocument(document, 'refuse')).toMatchObject({ ok: true, ignored: [] });
    for (const place of places(document)) {
      // Not structuredClone: it would keep shared parts shared.
      const copy = JSON.parse(JSON.stringify(document));
      let at: Record<PropertyKey, unknown> = copy;
      for (const part of place) at = at[part] as Record<PropertyKey, unknown>;
      at.dney = true;
      const path = configPath([...place, 'dney']);
      expect(faultOf(copy, 'refuse')).toMatchObject({
        field: path,
        faults: [expect.stringMatching(/message: is no field here; there are \w+/)],
      });
      expect(parseConfigDocument(copy, 'ignore')).toMatchObject({ ok: true, ignored: [path] });
    }
  });

  it('answers the old format with what to do', () => {
    const parsed = parseConfigDocument({ options: [] }, 'ignore');
    expect(parsed).toMatchObject({ ok: false, field: 'config.options' });
  });

  it.each([null, 'text', 5, []])('refuses %j', (value) => {
    expect(parseConfigDocument(value, 'ignore').ok).toBe(false);
  });

  function faultOf(document: unknown, unknownKeys: 'refuse' | 'ignore' = 'ignore') {
    const parsed = parseConfigDocument(document, unknownKeys);
    if (parsed.ok) throw new Error('the document was accepted');
    return parsed;
  }

  const two = [
    { name: 'a', provider: '@a' },
    { name: 'b', provider: '@b' },
  ];

  it.each([
    ['single', 'single'],
    ['fallback', 'fallback'],
    ['loadbalance', 'loadbalance'],
    ['least-latency', 'least-latency'],
    ['least_latency', 'least-latency'],
    ['lowest-cost', 'lowest-cost'],
    ['lowest_cost', 'lowest-cost'],
  ])('knows the strategy %s', (mode, folded) => {
    const parsed = parseConfigDocument({ strategy: { mode }, targets: two }, 'refuse');
    expect(parsed).toMatchObject({ ok: true, config: { strategy: { mode: folded } } });
  });

  it('names the strategies when one is unknown', () => {
    const fault = faultOf({ strategy: { mode: 'roundrobin' }, targets: two });
    expect(fault.field).toBe('config.strategy.mode');
    expect(fault.faults[0]).toContain('fallback, loadbalance');
  });

  // biome-ignore-start lint/suspicious/noThenProperty: `then` is the published name of the field.
  it.each<[string, object, string]>([
    [
      'a negative weight',
      { strategy: { mode: 'loadbalance' }, targets: [{ provider: 'a', weight: -1 }] },
      'config.targets[0].weight',
    ],
    [
      'an endless weight',
      { targets: [{ provider: 'a', weight: Number.POSITIVE_INFINITY }] },
      'config.targets[0].weight',
    ],
    [
      'weights that are all 0',
      { strategy: { mode: 'loadbalance' }, targets: [{ provider: 'a', weight: 0 }] },
      'config.targets',
    ],
    ['a strategy without targets', { strategy: { mode: 'fallback' } }, 'config.targets'],
    ['no targets at all', { strategy: { mode: 'fallback' }, targets: [] }, 'config.targets'],
    [
      'a conditional without conditions',
      { strategy: { mode: 'conditional', default: 'a' }, targets: two },
      'config.strategy.conditions',
    ],
    [
      'a condition that leads nowhere',
      {
        strategy: { mode: 'conditional', conditions: [{ query: {}, then: 'c' }], default: 'a' },
        targets: two,
      },
      'config.strategy.conditions[0].then',
    ],
    [
      'a default that leads nowhere',
      {
        strategy: { mode: 'conditional', conditions: [{ query: {}, then: 'a' }], default: 'c' },
        targets: two,
      },
      'config.strategy.default',
    ],
    ['two targets of one name', { targets: [...two, { name: 'a' }] }, 'config.targets[2].name'],
    [
      'a circuit breaker without a threshold',
      { cb_config: { cooldown_interval: 30_000 } },
      'config.cb_config',
    ],
    [
      'a circuit breaker that recovers too soon',
      { cb_config: { failure_threshold: 1, cooldown_interval: 29_999 } },
      'config.cb_config.cooldown_interval',
    ],
    ['too many retries', { retry: { attempts: 6 } }, 'config.retry.attempts'],
    ['a cache without a mode', { cache: { max_age: 60 } }, 'config.cache.mode'],
    ['hedging at once', { hedge: { delay: 0 } }, 'config.hedge.delay'],
    [
      'more hedging than requests',
      { hedge: { delay: 1, budget_percentage: 101 } },
      'config.hedge.budget_percentage',
    ],
    ['a timeout of no time', { first_byte_timeout: 0 }, 'config.first_byte_timeout'],
    [
      'forwarding the list of headers to forward',
      { forward_headers: ['x-a', 'X-Service-Forward-Headers'] },
      'config.forward_headers[1]',
    ],
    [
      'forwarding to metadata services',
      { forward_headers: ['Metadata-Flavor'] },
      'config.forward_headers[0]',
    ],
    [
      'a reference beside a provider',
      { targets: [{ config: 'pc-a', provider: '@a' }] },
      'config.targets[0].provider',
    ],
    ['parameters that are no object', { override_params: [] }, 'config.override_params'],
  ])('refuses %s, saved and inline', (_name, document, field) => {
    expect(faultOf(document, 'ignore').field).toBe(field);
    expect(faultOf(document, 'refuse').field).toBe(field);
  });

  it('asks for more when saving than inline', () => {
    const conditional = {
      strategy: { mode: 'conditional', conditions: [{ query: {}, then: 'a' }] },
      targets: two,
    };
    expect(parseConfigDocument(conditional, 'ignore').ok).toBe(true);
    expect(faultOf(conditional, 'refuse').field).toBe('config.strategy.default');
    const sticky = {
      strategy: { mode: 'loadbalance', sticky: { enabled: true } },
      targets: two,
    };
    expect(parseConfigDocument(sticky, 'ignore').ok).toBe(true);
    expect(faultOf(sticky, 'refuse').field).toBe('config.strategy.sticky.hash_fields');
    const byPrompt = { enabled: true, hash_fields: ['prompt.prefix'] };
    const stays = (rule: object) => ({
      strategy: { mode: 'loadbalance', sticky: rule },
      targets: two,
    });
    expect(parseConfigDocument(stays(byPrompt), 'refuse').ok).toBe(true);
    expect(faultOf(stays({ ...byPrompt, ttl: 60 }), 'refuse').field).toBe(
      'config.strategy.sticky.ttl',
    );
  });

  it('takes marks for prompts alone, and no other lives than providers know', () => {
    const marked = (prompt_cache: object) => ({ prompt_cache });
    expect(parseConfigDocument(marked({ breakpoints: 'auto', ttl: '1h' }), 'refuse').ok).toBe(true);
    expect(faultOf(marked({ breakpoints: 'auto', ttl: '2h' }), 'refuse').field).toBe(
      'config.prompt_cache.ttl',
    );
    expect(faultOf(marked({ ttl: '1h' }), 'refuse').field).toBe('config.prompt_cache.breakpoints');
  });
  // biome-ignore-end lint/suspicious/noThenProperty: as above

  it.each<object>([
    { provider: 'openai', api_key: 'k' },
    { provider: 'openai', custom_host: 'https://a.example' },
    { provider: '@saved' },
    { provider: 'ollama' },
    { virtual_key: 'v' },
    { provider: 'bedrock', aws_access_key_id: 'a', aws_secret_access_key: 's' },
    { provider: 'vertex-ai', vertex_region: 'r', vertex_project_id: 'p' },
    { provider: 'azure-openai', resource_name: 'r', deployment_id: 'd' },
    { cache: { mode: 'simple' } },
    { retry: { attempts: 1 } },
    { prompt_id: 'pp' },
    { forward_headers: ['x-a'] },
    { request_timeout: 1 },
    { input_guardrails: ['g'] },
    { after_request_hooks: [{ id: 'h', checks: [] }] },
    { passthrough: true },
    { default_params: {} },
    { drop_params: [] },
    { config: 'pc-a' },
    { targets: [{ passthrough: true }] },
  ])('can save %j', (document) => {
    expect(parseConfigDocument(document, 'refuse')).toMatchObject({ ok: true });
  });

  it.each<[object, string]>([
    [{}, 'config'],
    [{ provider: 'openai' }, 'config'],
    [{ targets: [{ provider: '@a' }, { name: 'b' }] }, 'config.targets[1]'],
    [{ provider: 'vertex-ai', vertex_region: 'r' }, 'config'],
  ])('does not save %j, which says too little, but runs it inline', (document, field) => {
    expect(faultOf(document, 'refuse').field).toBe(field);
    expect(parseConfigDocument(document, 'ignore').ok).toBe(true);
  });

  it('accepts camelCase at every level but inside what is the user’s own', () => {
    const document = {
      strategy: {
        mode: 'conditional',
        conditions: [
          // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
          { query: { 'metadata.userTier': { $eq: 'Gold' } }, then: 'a' },
        ],
        default: 'a',
      },
      cbConfig: { failureThreshold: 1, cooldownInterval: 30_000 },
      targets: [
        {
          name: 'a',
          virtualKey: 'v',
          firstByteTimeout: 10,
          idleTimeout: 20,
          hedge: { delay: 5, budgetPercentage: 1 },
          strictOpenAICompliance: false,
          overrideParams: { topP: 1, nested: { maxTokens: 2 } },
          defaultParams: { maxTokens: 3 },
          inputMutators: [{ addPrefix: { applyToRole: 'user' } }],
          beforeRequestHooks: [
            {
              id: 'h',
              checks: [{ id: 'jwt', parameters: { headerKey: 'x' } }],
              onFail: { feedback: { value: 1, weight: 1, metadata: { userId: 'u' } } },
              credentials: { apiKey: 'k' },
            },
          ],
        },
      ],
    };
    expect(parseConfigDocument(document, 'refuse')).toEqual({
      ok: true,
      ignored: [],
      config: {
        strategy: document.strategy,
        cb_config: { failure_threshold: 1, cooldown_interval: 30_000 },
        targets: [
          {
            name: 'a',
            virtual_key: 'v',
            first_byte_timeout: 10,
            idle_timeout: 20,
            hedge: { delay: 5, budget_percentage: 1 },
            strict_open_ai_compliance: false,
            override_params: { topP: 1, nested: { maxTokens: 2 } },
            default_params: { maxTokens: 3 },
            input_mutators: [{ addPrefix: { applyToRole: 'user' } }],
            before_request_hooks: [
              {
                id: 'h',
                checks: [{ id: 'jwt', parameters: { headerKey: 'x' } }],
                on_fail: { feedback: { value: 1, weight: 1, metadata: { userId: 'u' } } },
                credentials: { apiKey: 'k' },
              },
            ],
          },
        ],
      },
    });
  });

  it('leaves the caller’s document as it was, also when it prunes unknown keys', () => {
    const document = {
      bogus: 1,
      strategy: {
        mode: 'conditional',
        // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
        conditions: [{ query: {}, then: 'a', note: 'x' }],
      },
      targets: [{ ...two[0], extra: true }],
      before_request_hooks: [{ id: 'h', checks: [{ id: 'jwt', isEnabled: false, weight: 2 }] }],
    };
    const before = JSON.stringify(document);
    expect(parseConfigDocument(document, 'ignore').ok).toBe(true);
    expect(JSON.stringify(document)).toBe(before);
  });

  it('does not let a key replace a prototype', () => {
    const hostile = JSON.parse('{"provider":"@a","__proto__":{"api_key":"stolen"}}');
    const parsed = parseConfigDocument(hostile, 'ignore');
    expect(parsed).toEqual({ ok: true, config: { provider: '@a' }, ignored: [] });
    expect(parsed.ok && parsed.config.api_key).toBeUndefined();
  });

  it('tells of 20 faults at most', () => {
    const targets = Array.from({ length: 100 }, () => ({ retry: { attempts: 9 }, weight: -1 }));
    expect(faultOf({ targets }).faults).toHaveLength(20);
    const nameless = Array.from({ length: 100 }, () => ({ name: 'same' }));
    expect(faultOf({ targets: nameless }).faults).toHaveLength(20);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, 1]));
    let asked = 0;
    const refused = parseConfigDocument(many, 'refuse', undefined, () => `${++asked}`);
    expect([refused.ok === false && refused.faults.length, asked]).toEqual([20, 20]);
    const taken = parseConfigDocument({ provider: '@a', ...many }, 'ignore');
    expect(taken.ok && taken.ignored).toHaveLength(20);
  });

  it('refuses parameters nested so deep that they would take the stack of others', () => {
    let deep: object = {};
    for (let depth = 0; depth < 100_000; depth++) deep = { deep };
    expect(faultOf({ override_params: deep }).field).toBe('config.override_params');
    expect(faultOf({ bogus: deep }, 'refuse').field).toBe('config.bogus');
  });
});

describe('the caps on targets', () => {
  const leaf = { provider: '@a' };

  function nested(depth: number): object {
    let document: object = leaf;
    for (let level = 0; level < depth; level++) document = { targets: [document] };
    return document;
  }

  it.each([
    ['one too many at the root', { targets: Array(101).fill(leaf) }, 'config.targets'],
    [
      'one too many in a conditional root',
      { strategy: { mode: 'conditional' }, targets: Array(1001).fill(leaf) },
      'config.targets',
    ],
    [
      '10,000 nested below one target',
      { targets: [leaf, { targets: Array(10_000).fill(leaf) }] },
      'config.targets[1].targets',
    ],
    [
      '51 below one target, on two levels',
      { targets: [{ targets: [{ targets: Array(26).fill(leaf) }, ...Array(24).fill(leaf)] }] },
      'config.targets[0].targets[0].targets',
    ],
    ['33 levels', nested(33), `config${'.targets[0]'.repeat(32)}.targets`],
    ['10,000 levels', nested(10_000), `config${'.targets[0]'.repeat(32)}.targets`],
    [
      'more than 4000 altogether',
      { targets: Array(100).fill({ targets: Array(50).fill(leaf) }) },
      'config.targets[78]',
    ],
  ])('refuse %s, with the path, without looking further', (_name, document, field) => {
    const parsed = parseConfigDocument(document, 'ignore');
    expect(parsed).toMatchObject({ ok: false, field, faults: [expect.stringContaining(field)] });
  });

  it('let through what is just within them', () => {
    const root = { targets: Array(100).fill(leaf) };
    const below = { targets: Array(20).fill({ targets: Array(50).fill(leaf) }) };
    for (const document of [root, below, nested(32)])
      expect(parseConfigDocument(document, 'refuse')).toMatchObject({ ok: true });
  });

  it('can be made tighter', () => {
    const caps = { ...configCaps, rootTargetsMax: 1 };
    expect(parseConfigDocument({ targets: [leaf, leaf] }, 'ignore', caps).ok).toBe(false);
    expect(parseConfigDocument({ targets: [leaf] }, 'ignore', caps).ok).toBe(true);
  });
});
