import { randomUUID } from 'node:crypto';
import { inTurns, json } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Explanation } from '../src/pipeline/explain/explanation.ts';
import {
  type CallOptions,
  chatBody,
  chatReply,
  errorOf,
  modes,
  type Scenario,
  settledTotal,
  startScenario,
} from './scenario.ts';

const environment = { gateway: { HEADER_PREFIX_ALIASES: 'x-portkey-' } };

/** In the suite with what several gateways share (`npm run test:long`: in both modes). */
describe.each(inTurns(modes, modes.length, 1))('POST /v1/explain, %s', (_mode, options) => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await startScenario({ ...options, environment });
  });
  afterAll(() => scenario.stop());
  beforeEach(() => scenario.upstream.handle(json(200, chatReply)));

  const explain = async (over: CallOptions = {}, path = '/v1/explain'): Promise<Explanation> => {
    const response = await scenario.call(path, over);
    expect(response.status).toBe(200);
    return (await response.json()) as Explanation;
  };
  const target = (model: string, more: object = {}) => ({
    provider: 'openai',
    api_key: 'sk-target',
    override_params: { model },
    ...more,
  });
  const using = (config: object, over: CallOptions = {}): CallOptions => ({
    ...over,
    headers: { 'x-service-config': JSON.stringify(config), ...over.headers },
  });
  const when = (query: object, name: string) => ({
    query,
    // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
    then: name,
  });
  /** Saves a config and waits until the gateway knows it. */
  const newConfig = async (name: string, config: object) => {
    const { data } = await scenario.admin<{ data: { id: string; slug: string } }>(
      'POST',
      '/configs',
      { name, workspace_id: scenario.stack.credentials.workspace_id, config },
    );
    const headers = { 'x-service-config': data.slug };
    await expect.poll(async () => (await explain({ headers })).config?.slug).toBe(data.slug);
    return data;
  };
  const newKey = (body: object = {}) =>
    scenario.admin<{ id: string; key: string; slug?: string }>(
      'POST',
      '/api-keys/workspace/service',
      {
        name: 'explained key',
        scopes: ['completions.write'],
        workspace_id: scenario.stack.credentials.workspace_id,
        ...body,
      },
    );

  /** The same request, explained and made: refused alike, or sent to the first target of the plan. */
  async function agrees(over: CallOptions): Promise<Explanation> {
    const explained = await explain(over);
    const called = scenario.upstream.requests.length;
    const response = await scenario.chat(over);
    if (explained.would_fail !== undefined) {
      expect(await errorOf(response)).toEqual({
        status: explained.would_fail.status,
        code: explained.would_fail.code,
        param: explained.would_fail.param,
        message: explained.would_fail.message,
      });
      expect(scenario.upstream.requests).toHaveLength(called);
      return explained;
    }
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    expect(explained.plan[0]?.path).toBe(response.headers.get('x-service-last-used-option-index'));
    expect(explained.plan[0]?.provider).toBe(response.headers.get('x-service-provider'));
    const sent = scenario.upstream.requests.at(-1)?.json() as { model: string };
    expect(explained.plan[0]?.model).toBe(sent.model);
    return explained;
  }

  const chatOf = (content: string) => ({ model: 'kept', messages: [{ role: 'user', content }] });

  it.each([
    ['keys of AWS', { 'x-service-provider': 'bedrock', 'x-service-aws-region': 'eu-central-1' }],
    [
      'the other half of them',
      { 'x-service-provider': 'bedrock', 'x-service-aws-access-key-id': 'AKID' },
    ],
    [
      'a mode that there is',
      { 'x-service-provider': 'bedrock', 'x-service-aws-auth-type': 'magic' },
    ],
    [
      'a tenant of Entra',
      {
        'x-service-provider': 'azure-openai',
        'x-service-azure-resource-name': 'ours',
        'x-service-azure-deployment-id': 'gpt',
        'x-service-azure-api-version': '2024-10-21',
        'x-service-azure-auth-mode': 'entra',
      },
    ],
  ] as [string, Record<string, string>][])(
    'tells that what a call is signed with lacks %s',
    async (_what, headers) => {
      const explained = await agrees({ host: null, headers });
      expect(explained.would_fail?.code).toMatch(/^provider\.setting_/);
      expect(explained.plan[0]?.unavailable?.code).toBe(explained.would_fail?.code);
    },
  );

  describe('without a config', () => {
    it('names the one who would be asked, and why', async () => {
      const explained = await agrees({});
      expect(explained).toMatchObject({
        object: 'explain',
        endpoint: 'chatComplete',
        key: {
          workspace_id: scenario.stack.credentials.workspace_id,
          organisation_id: scenario.stack.credentials.organisation_id,
        },
        config: null,
        plan: [
          {
            step: 0,
            path: 'config',
            provider: 'openai',
            provider_slug: null,
            model: 'gpt-4o-mini',
            host: new URL(scenario.upstream.url).host,
            circuit: 'closed',
            retry: null,
            cache: null,
            hedge: null,
          },
        ],
      });
      expect(explained.bundle_hash).not.toBe('');
      expect(JSON.stringify(explained)).not.toContain('sk-upstream');
      expect(JSON.stringify(explained)).not.toContain(scenario.stack.credentials.workspace_key);
    });

    it('estimates tokens and cost; a price that is not known is null', async () => {
      const body = { ...chatBody, max_tokens: 100 };
      const estimate = async (model: string) =>
        (await explain({ body: { ...body, model } })).plan[0]?.estimate;
      const known = await estimate('gpt-4o-mini');
      expect(known?.output_tokens).toBe(100);
      expect(known?.input_tokens).toBeGreaterThan(0);
      // 0.15 and 0.60 USD for a million tokens.
      expect(known?.cost_nano_usd).toBe((known?.input_tokens ?? 0) * 150 + 100 * 600);
      expect((await estimate('a-model-of-nobody'))?.cost_nano_usd).toBeNull();
      const tokens: unknown = await explain({ body }, '/v1/gateway/tokenize');
      expect(tokens).toMatchObject({
        object: 'tokens',
        model: 'gpt-4o-mini',
        input_tokens: known?.input_tokens,
        input_tokens_max: known?.high.input_tokens,
        method: 'estimate',
      });
      expect(await explain({}, '/v1/gateway/tokenize/embeddings')).toMatchObject({
        endpoint: 'embed',
      });
    });

    it('says which model of which saved provider a name stands for', async () => {
      const explained = await explain({
        host: null,
        body: { ...chatBody, model: '@demo/gpt-4o-mini' },
      });
      expect(explained.plan[0]).toMatchObject({ provider_slug: 'demo', model: 'gpt-4o-mini' });
      expect(explained.would_fail).toBeUndefined();
    });
  });

  describe('of a config', () => {
    it('fallback: every target in its order, and when it is reached', async () => {
      const config = {
        strategy: { mode: 'fallback', on_status_codes: [429, 503] },
        retry: { attempts: 2, on_status_codes: [500] },
        targets: [
          target('model-a', { name: 'first' }),
          target('model-b', { request_timeout: 1234, cache: { mode: 'simple', max_age: 90 } }),
        ],
      };
      const explained = await agrees(using(config));
      expect(explained.config).toMatchObject({
        source: 'inline',
        id: null,
        strategy_mode: 'fallback',
      });
      expect(explained.plan).toMatchObject([
        {
          path: 'config.targets[0]',
          name: 'first',
          model: 'model-a',
          retry: { attempts: 2, on_status_codes: [500] },
          cache: null,
        },
        {
          path: 'config.targets[1]',
          model: 'model-b',
          cache: { mode: 'simple', max_age_s: 90, namespace: null, force_refresh: false },
          timeouts: { request_ms: 1234 },
        },
      ]);
      expect(explained.plan.map((step) => step.reached_when)).toEqual([
        [],
        [{ after: 'config.targets[0]', on: [429, 503] }],
      ]);
      expect(explained.choices).toMatchObject([{ path: 'config', mode: 'fallback', picked: 0 }]);

      const before = scenario.upstream.requests.length;
      scenario.upstream.handle(json(503, {}));
      await (await scenario.chat(using(config))).arrayBuffer();
      const asked = scenario.upstream.requests.slice(before).map((request) => request.json());
      expect(asked).toMatchObject([{ model: 'model-a' }, { model: 'model-b' }]);
    });

    it('loadbalance: the share of each target, and never one without weight', async () => {
      const config = {
        strategy: { mode: 'loadbalance' },
        targets: [
          target('a', { weight: 3 }),
          target('b', { weight: 0 }),
          target('c', { weight: 1 }),
        ],
      };
      const picks = new Map<string, number>();
      for (let round = 0; round < 60; round++) {
        const explained = await explain(using(config));
        expect(explained.plan).toHaveLength(1);
        const path = explained.plan[0]?.path ?? '';
        expect(path).toBe(`config.targets[${explained.choices[0]?.picked}]`);
        expect(explained.choices[0]?.scores).toEqual([0.75, 0, 0.25]);
        picks.set(path, (picks.get(path) ?? 0) + 1);
      }
      expect([...picks.keys()].sort()).toEqual(['config.targets[0]', 'config.targets[2]']);
    });

    it.each([
      ['{"tier":"gold","age":30}', 'config.targets[0]'],
      ['{"tier":"silver","age":30}', 'config.targets[1]'],
      ['{"tier":"gold","age":"30"}', 'config.targets[1]'],
      ['{}', 'config.targets[2]'],
    ])('conditional: each comparison with its value, for %s', async (metadata, path) => {
      const config = {
        strategy: {
          mode: 'conditional',
          conditions: [
            when({ 'metadata.tier': { $eq: 'gold' }, 'metadata.age': { $eq: 30 } }, 'one'),
            when({ 'metadata.tier': { $in: ['gold', 'silver'] } }, 'two'),
          ],
          default: 'rest',
        },
        targets: [
          target('a', { name: 'one' }),
          target('b', { name: 'two' }),
          target('c', { name: 'rest' }),
        ],
      };
      const explained = await agrees(
        using(config, { headers: { 'x-service-metadata': metadata } }),
      );
      expect(explained.plan.map((step) => step.path)).toEqual([path]);
      const [choice] = explained.choices;
      expect(choice?.conditions?.map(({ index, then }) => [index, then])).toEqual([
        [0, 'one'],
        [1, 'two'],
      ]);
      const tier = (JSON.parse(metadata) as { tier?: string }).tier;
      const comparison = choice?.conditions?.[1]?.comparisons[0];
      expect(comparison).toMatchObject({
        field: 'metadata.tier',
        operator: '$in',
        expected: ['gold', 'silver'],
        matched: tier !== undefined,
      });
      expect(comparison?.actual).toBe(tier);
    });

    it('conditional on the path sees the path of the request in question', async () => {
      const config = {
        strategy: {
          mode: 'conditional',
          conditions: [when({ 'url.pathname': { $regex: '^/v1/embeddings$' } }, 'e')],
          default: 'rest',
        },
        targets: [target('a', { name: 'e' }), target('b', { name: 'rest' })],
      };
      const of = async (path: string) => (await explain(using(config), path)).plan[0]?.path;
      expect(await of('/v1/explain/embeddings')).toBe('config.targets[0]');
      expect(await of('/v1/explain')).toBe('config.targets[1]');
    });

    it('nested strategies are followed to their leaves', async () => {
      const explained = await agrees(
        using({
          strategy: { mode: 'fallback' },
          targets: [
            {
              strategy: { mode: 'loadbalance' },
              targets: [target('a', { weight: 0 }), target('b')],
            },
            target('c'),
          ],
        }),
      );
      expect(explained.plan.map((step) => step.path)).toEqual([
        'config.targets[0].targets[1]',
        'config.targets[1]',
      ]);
      expect(explained.choices.map(({ path, mode }) => [path, mode])).toEqual([
        ['config', 'fallback'],
        ['config.targets[0]', 'loadbalance'],
      ]);
    });

    it('saved: says where it came from and which version decides', async () => {
      const saved = await newConfig('explained', {
        strategy: { mode: 'single' },
        targets: [{ provider: '@demo' }],
      });
      const { key } = await newKey({ defaults: { config_id: saved.id } });
      const named = { 'x-service-config': saved.slug };
      const byHeader = await explain({ host: null, headers: named });
      expect(byHeader.config).toMatchObject({
        source: 'header-slug',
        slug: saved.slug,
        name: 'explained',
        strategy_mode: 'single',
      });
      expect(byHeader.config?.version_id).not.toBe('');
      const byKey = await explain({ host: null, key });
      expect(byKey.config).toEqual({ ...byHeader.config, source: 'key-default' });
      expect(byKey.plan[0]).toMatchObject({ provider_slug: 'demo' });
    });
  });

  describe('of a request that would be refused', () => {
    it.each<[string, CallOptions, string]>([
      ['a config that is no JSON', { headers: { 'x-service-config': '{' } }, 'config.invalid'],
      [
        'a config that is not valid',
        { headers: { 'x-service-config': '{"strategy":{"mode":"roulette"},"targets":[{}]}' } },
        'config.invalid',
      ],
      ['a config nobody saved', { headers: { 'x-service-config': 'pc-none' } }, 'config.not_found'],
      ['no provider', { host: null }, 'provider.missing'],
      [
        'a provider nobody knows',
        { headers: { 'x-service-provider': 'nobody' } },
        'provider.unknown',
      ],
      ['a host that may not be called', { host: 'http://169.254.169.254/v1' }, 'host.invalid'],
      [
        'a header that is not valid',
        { headers: { 'x-service-request-timeout': '-1' } },
        'request.invalid_header',
      ],
      ['a field that is not valid', { body: { ...chatBody, model: 5 } }, 'request.invalid_field'],
    ])('%s: the refusal itself, as the request gets it', async (_name, over, code) => {
      expect((await agrees(over)).would_fail?.code).toBe(code);
    });

    it('no condition that matches: the refusal, and the conditions all the same', async () => {
      const explained = await agrees(
        using({
          strategy: {
            mode: 'conditional',
            conditions: [when({ 'metadata.a': 'b' }, 'one')],
          },
          targets: [target('a', { name: 'one' })],
        }),
      );
      expect(explained.would_fail).toMatchObject({ status: 400, code: 'config.no_route' });
      expect(explained.choices[0]?.conditions?.[0]).toMatchObject({ matched: false });
      expect(explained.plan).toMatchObject([
        { path: 'config', provider: null, unavailable: { code: 'config.no_route' } },
      ]);
    });

    it('one target that cannot be asked does not fail a request that has another', async () => {
      const explained = await explain(
        using({
          strategy: { mode: 'fallback' },
          targets: [{ provider: '@gone' }, target('b')],
        }),
      );
      expect(explained.would_fail).toBeUndefined();
      expect(explained.plan[0]).toMatchObject({
        provider: null,
        host: null,
        estimate: null,
        unavailable: { status: 400, code: 'provider.not_found' },
      });
      expect(explained.plan[1]?.unavailable).toBeUndefined();
    });

    it('names headers as the caller spells them', async () => {
      const response = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/explain`, {
        method: 'POST',
        headers: {
          'x-portkey-api-key': scenario.stack.credentials.workspace_key,
          'x-portkey-config': '{',
          'content-type': 'application/json',
        },
        body: JSON.stringify(chatBody),
      });
      expect(await response.json()).toMatchObject({
        would_fail: { param: 'x-portkey-config', message: 'x-portkey-config is not valid JSON.' },
      });
    });
  });

  describe('limits', () => {
    it('are shown as they are and never consumed; a spent one refuses alike', async () => {
      const { key } = await newKey({
        rate_limits: [{ type: 'requests', unit: 'rpd', value: 2 }],
      });
      for (let looks = 0; looks < 5; looks++) {
        const { limits, would_fail } = await explain({ key });
        expect(limits[0]).toMatchObject({
          target: null,
          policy: null,
          type: 'requests',
          unit: 'rpd',
          limit: 2,
          remaining: 2,
          matched: true,
          would_refuse: false,
        });
        expect(limits[0]?.reset_at_ms).toBeGreaterThan(Date.now());
        expect(would_fail).toBeUndefined();
      }
      await agrees({ key });
      expect((await explain({ key })).limits[0]).toMatchObject({ remaining: 1 });
      await agrees({ key });
      const spent = await agrees({ key });
      expect(spent.limits[0]).toMatchObject({ remaining: 0, would_refuse: true });
      expect(spent.would_fail).toMatchObject({ status: 429, code: 'limit.rate_exceeded' });
      // The rest of the decision does not depend on it.
      expect(spent.plan).toHaveLength(1);
    });

    it('that want all of a request to fit refuse alike, and end it', async () => {
      const tokens = { type: 'tokens', credit_limit: 500, admission: 'strict' };
      const { key } = await newKey({ usage_limits: tokens });
      const body = { ...chatBody, max_tokens: 100 };
      const fits = await agrees({ key, body });
      expect(fits.limits[0]).toMatchObject({ target: null, would_refuse: false });
      const large = { ...chatBody, max_tokens: 1000 };
      const refused = await agrees({ key, body: large });
      expect(refused.limits[0]).toMatchObject({ would_refuse: true });
      expect(refused.limits[0]?.remaining).toBeGreaterThan(300);
      const refusal = { status: 412, code: 'limit.budget_exhausted' };
      expect(refused.would_fail).toMatchObject(refusal);
      expect(refused.plan[0]?.unavailable).toMatchObject(refusal);
      // A smaller one would fit: nobody asks for it.
      const sized = (model: string, max_tokens: number) =>
        target(model, { override_params: { model, max_tokens } });
      const smaller = sized('gpt-4o-mini', 10);
      const larger = sized('gpt-4o', 1000);
      const config = { strategy: { mode: 'fallback' }, targets: [larger, smaller] };
      const ended = await agrees(using(config, { key, body }));
      expect(ended.would_fail).toMatchObject(refusal);
      expect(ended.plan[1]?.unavailable).toBeUndefined();
    });

    it('that take nothing without a price refuse models and tools of providers alike, and move on', async () => {
      const dollar = { type: 'cost', credit_limit: 1, unpriced: 'refuse' };
      const { key } = await newKey({ usage_limits: dollar });
      const unpriced = { status: 412, code: 'limit.unpriced' };
      const ask = async (model: string, over: object = {}) => {
        const { would_fail, limits } = await agrees(
          using(target(model), { key, body: { ...chatBody, ...over } }),
        );
        expect(limits[0]?.would_refuse).toBe(would_fail !== undefined);
        return would_fail;
      };
      expect(await ask('gpt-4o-mini')).toBeUndefined();
      expect(await ask('a-model-of-nobody')).toMatchObject(unpriced);
      const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }];
      const refused = await ask('gpt-4o-mini', { tools });
      expect(refused).toMatchObject(unpriced);
      expect(refused?.message).toContain('No price is known of code_execution at this model');
      const config = {
        strategy: { mode: 'fallback' },
        targets: [target('a-model-of-nobody'), target('gpt-4o-mini')],
      };
      const explained = await explain(using(config, { key }));
      expect(explained.would_fail).toBeUndefined();
      expect(explained.plan[0]?.unavailable).toMatchObject(unpriced);
      const answer = await scenario.chat(using(config, { key }));
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-service-last-used-option-index')).toBe('config.targets[1]');
    });

    it('policies that do not apply are shown with the condition that is not met', async () => {
      const { id, key } = await newKey();
      const policies = await Promise.all(
        ['blue', 'red'].map((team) =>
          scenario.admin<{ id: string }>('POST', '/policies/rate-limits', {
            name: `team ${team}`,
            workspace_id: scenario.stack.credentials.workspace_id,
            type: 'requests',
            unit: 'rpd',
            value: 50,
            conditions: [
              { key: 'api_key', value: id },
              { key: 'metadata.team', value: team },
            ],
            group_by: [{ key: 'api_key' }],
          }),
        ),
      );
      const byModel = await scenario.admin<{ id: string }>('POST', '/policies/rate-limits', {
        name: 'by model',
        workspace_id: scenario.stack.credentials.workspace_id,
        type: 'tokens',
        unit: 'rpd',
        value: 1,
        conditions: [{ key: 'api_key', value: id }],
        group_by: [{ key: 'model' }],
      });
      const headers = { 'x-service-metadata': '{"team":"blue"}' };
      const shown = async () => {
        const { limits } = await explain({ key, headers });
        return (name: string) => limits.find((limit) => limit.policy?.name === name);
      };
      await expect.poll(async () => (await shown())('by model')).toBeDefined();
      const limit = await shown();
      expect(limit('team blue')).toMatchObject({ matched: true, remaining: 50, target: null });
      expect(limit('team red')).toMatchObject({
        matched: false,
        unmet_condition: 'metadata.team',
        remaining: null,
        would_refuse: false,
      });
      expect(limit('by model')).toMatchObject({ target: 'config', remaining: 1, matched: true });

      await agrees({ key, headers });
      await expect.poll(async () => (await shown())('by model')?.would_refuse).toBe(true);
      const spent = await agrees({ key, headers });
      expect(spent.plan[0]?.unavailable).toMatchObject({ code: 'limit.rate_exceeded' });
      for (const policy of [...policies, byModel])
        await scenario.admin('DELETE', `/policies/rate-limits/${policy.id}`);
    });
  });

  it('shows the circuits of targets', async () => {
    // A host of the request would make the calls the caller's own, of which circuits do not hear.
    const ours = { custom_host: `${scenario.upstream.url}/v1` };
    const saved = await newConfig('broken', {
      strategy: {
        mode: 'fallback',
        cb_config: { failure_threshold: 1, cooldown_interval: 60_000 },
      },
      targets: [target('a', ours), target('b', ours)],
    });
    const over = { host: null, headers: { 'x-service-config': saved.slug } };
    const circuits = async () =>
      (await explain(over)).plan.map(({ path, circuit }) => [path, circuit]);
    expect(await circuits()).toEqual([
      ['config.targets[0]', 'closed'],
      ['config.targets[1]', 'closed'],
    ]);
    scenario.upstream.handle((request) =>
      (request.json() as { model: string }).model === 'a' ? json(503, {}) : json(200, chatReply),
    );
    for (let call = 0; call < 2; call++) await (await scenario.chat(over)).arrayBuffer();
    const explained = await explain(over);
    expect(explained.choices[0]).toMatchObject({ open: [0] });
    expect(explained.plan.map(({ path }) => path)).toEqual(['config.targets[1]']);
    await agrees(over);

    scenario.upstream.handle(json(503, {}));
    for (let call = 0; call < 2; call++) await (await scenario.chat(over)).arrayBuffer();
    expect(await circuits()).toEqual([
      ['config.targets[0]', 'open'],
      ['config.targets[1]', 'open'],
    ]);
  });

  describe('the endpoint', () => {
    it.each([
      ['/v1/explain', {}, 'chatComplete'],
      ['/v1/explain/', {}, 'chatComplete'],
      ['/v1/explain/chat/completions', {}, 'chatComplete'],
      ['/v1/explain/messages?endpoint=embed', {}, 'messages'],
      ['/v1/explain?endpoint=/v1/embeddings', {}, 'embed'],
      ['/v1/explain?endpoint=completions', {}, 'complete'],
      ['/v1/explain/images/generations', {}, 'imageGenerate'],
      ['/v1/explain?endpoint=messages', { 'x-service-explain-endpoint': 'embed' }, 'messages'],
      ['/v1/explain', { 'x-service-explain-endpoint': 'embed' }, 'embed'],
      ['/v1/explain', { 'x-portkey-explain-endpoint': '/v1/messages' }, 'messages'],
    ])('%s %j means %s', async (path, headers, endpoint) => {
      const explained = await explain({ headers: headers as Record<string, string> }, path);
      expect(explained.endpoint).toBe(endpoint);
    });

    it.each([
      ['/v1/explain/files', {}, 'path'],
      ['/v1/explain?endpoint=', {}, 'query.endpoint'],
      ['/v1/explain?endpoint=proxy', {}, 'query.endpoint'],
      ['/v1/explain', { 'x-service-explain-endpoint': 'models' }, 'x-service-explain-endpoint'],
    ])('%s %j is refused by the path of the fault', async (path, headers, param) => {
      const response = await scenario.call(path, { headers: headers as Record<string, string> });
      expect(await errorOf(response)).toMatchObject({
        status: 400,
        code: 'request.invalid_field',
        param,
      });
    });

    it.each([
      ['is an error, and asks the next target', {}, 200, undefined],
      [
        'is an answer where it is told softly, and ends the request',
        { soft_deny_200: true },
        200,
        200,
      ],
    ])('a denial %s', async (_case, more, status, explained) => {
      const checks = [
        { id: 'default.contains', parameters: { words: ['Hello'], operator: 'none' } },
      ];
      const hook = { id: 'words', type: 'guardrail', checks, deny: true, ...more };
      const call = using(
        {
          strategy: { mode: 'fallback' },
          targets: [target('gpt-4o', { before_request_hooks: [hook] }), target('gpt-4o-mini')],
        },
        { body: { ...chatBody, messages: [{ role: 'user', content: 'Hello' }] } },
      );
      const { would_fail, plan } = await explain(call);
      const answer = await scenario.chat(call);
      const asked = (await answer.json()) as { hook_results?: object };
      expect([answer.status, would_fail?.status]).toEqual([status, explained]);
      expect(plan[0]?.unavailable?.status).toBe(explained ?? 446);
      expect(plan[0]?.guardrails?.input[0]?.soft_deny_200).toBe(explained && true);
      expect(asked.hook_results === undefined).toBe(explained === undefined);
    });

    it('an endpoint that the provider lacks is a request that would fail', async () => {
      const explained = await explain(
        { headers: { 'x-service-provider': 'anthropic' } },
        '/v1/explain/embeddings',
      );
      expect(explained.would_fail).toMatchObject({ code: 'provider.endpoint_unsupported' });
    });

    it.each<[string, string, object, object, { path?: string }]>([
      [
        'what its format has no place for',
        'request.params_dropped',
        { logit_bias: { 1: 1 } },
        {},
        {},
      ],
      ['a message of nobody', 'request.invalid_field', { messages: [{ role: 'alien' }] }, {}, {}],
      ['more answers than it gives', 'request.invalid_field', { n: 2 }, {}, {}],
      ['a key with a line break', 'request.invalid_header', {}, { api_key: 'sk\n' }, {}],
      ['a project that is missing', 'provider.setting_missing', {}, { provider: 'vertex-ai' }, {}],
      [
        'an item that another has',
        'request.state_not_kept',
        { input: [{ type: 'item_reference', id: 'msg_1' }] },
        {},
        { path: '/responses' },
      ],
    ])(
      '%s cannot be sent (%s)',
      async (_case, code, body, more, { path = '/chat/completions' }) => {
        const call = using(
          { provider: 'anthropic', api_key: 'sk-target', ...more },
          {
            headers: { 'x-service-strict-params': 'true' },
            body: { model: 'claude-sonnet-4', messages: chatBody.messages, ...body },
          },
        );
        const { would_fail, plan } = await explain(call, `/v1/explain${path}`);
        const refused = await scenario.call(`/v1${path}`, call);
        const { error } = (await refused.json()) as { error: { message: string; param: unknown } };
        const told = { status: refused.status, code, message: error.message, param: error.param };
        expect(would_fail).toEqual(told);
        expect(plan[0]?.unavailable).toEqual(told);
        expect(error).toMatchObject({ code });
      },
    );
  });

  describe('is itself refused', () => {
    it.each<[string, CallOptions, number, string]>([
      ['without a key', { key: '' }, 401, 'auth.missing_key'],
      ['with a wrong key', { key: 'sl_wrong' }, 401, 'auth.invalid_key'],
      ['with a body that is no JSON', { rawBody: '{"model":' }, 400, 'request.malformed_json'],
      ['with a body that is no object', { rawBody: '[]' }, 400, 'request.invalid_field'],
      ['by another method', { method: 'GET' }, 405, 'request.method_not_allowed'],
    ])('%s', async (_name, over, status, code) => {
      const response = await scenario.call('/v1/explain', {
        ...over,
        headers: { ...over.headers, authorization: '' },
      });
      expect(await errorOf(response)).toMatchObject({ status, code });
    });

    it('with a key that may not call models', async () => {
      const { key } = await newKey({ scopes: ['logs.view'] });
      expect(await errorOf(await scenario.call('/v1/explain', { key }))).toMatchObject({
        status: 403,
        code: 'auth.missing_scope',
      });
    });
  });

  it('calls nobody, fills no cache, and leaves no usage record', async () => {
    const config = { cache: { mode: 'simple', max_age: 90 }, ...target(randomUUID()) };
    const before = await settledTotal(scenario);
    const called = scenario.upstream.requests.length;
    for (let round = 0; round < 5; round++) {
      await explain(using(config));
      await explain({ headers: { 'x-service-config': '{' } });
      await explain({ host: null });
    }
    expect(scenario.upstream.requests).toHaveLength(called);
    const response = await scenario.chat(using(config));
    await response.arrayBuffer();
    expect(response.headers.get('x-service-cache-status')).toBe('MISS');
    expect(scenario.upstream.requests).toHaveLength(called + 1);
    expect(await settledTotal(scenario)).toBe(before + 1);
  });

  it('tells whether a kept answer would be given, and what makes a request the same', async () => {
    const asked = using({ cache: { mode: 'simple' }, ...target('kept') });
    const cacheOf = async (options: CallOptions) => (await explain(options)).plan[0]?.cache;
    const [before, shown] = await Promise.all([cacheOf(asked), cacheOf(asked)]);
    expect(before).toMatchObject({
      would_be: 'MISS',
      age_s: null,
      semantic: null,
      key: {
        workspace_id: scenario.stack.credentials.workspace_id,
        credential: null,
        path: '/v1/chat/completions',
        endpoint: 'chatComplete',
        model: 'kept',
        namespace: null,
        headers: expect.arrayContaining(['content-type']),
        output_checks: null,
        body_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect(shown).toEqual(before);
    await (await scenario.chat(asked)).arrayBuffer();
    expect(await cacheOf(asked)).toMatchObject({ would_be: 'HIT', key: before?.key });
    const forced = { ...asked.headers, 'x-service-cache-force-refresh': 'true' };
    expect(await cacheOf({ ...asked, headers: forced })).toMatchObject({ would_be: 'REFRESH' });
    const inNamespace = { ...asked.headers, 'x-service-cache-namespace': 'mine' };
    const elsewhere = await cacheOf({ ...asked, headers: inNamespace });
    expect(elsewhere).toMatchObject({
      would_be: 'MISS',
      key: { namespace: 'mine', headers: null, body_sha256: before?.key?.body_sha256 },
    });
    expect(elsewhere?.key?.sha256).not.toBe(before?.key?.sha256);
  });

  it('looks for what checks make of a request that ask nobody, one after the other', async () => {
    const asked = {
      ...using({
        cache: { mode: 'simple' },
        ...target('kept'),
        input_guardrails: [
          { 'default.pii': { redact: true } },
          { 'default.regexReplace': { rule: '/now/g', redactText: 'today' } },
        ],
        input_mutators: [{ 'default.addPrefix': { prefix: 'Politely: ' } }],
      }),
      body: chatOf('Write to bob@example.com now'),
    };
    await (await scenario.chat(asked)).arrayBuffer();
    expect((await explain(asked)).plan[0]?.cache).toMatchObject({ would_be: 'HIT' });
    const answer = await scenario.chat(asked);
    expect(answer.headers.get('x-service-cache-status')).toBe('HIT');
    const other = { ...asked, body: chatOf('Write to bob@example.com then') };
    expect((await explain(other)).plan[0]?.cache).toMatchObject({ would_be: 'MISS' });
  });

  it('tells of the semantic cache whether other words would be compared, and asks for no vector', async () => {
    const embedding = { provider: '@nobody', model: 'm' };
    const asked = using({ cache: { mode: 'semantic', embedding }, ...target('kept') });
    const cache = (await explain(asked)).plan[0]?.cache;
    expect(cache).toMatchObject({
      mode: 'semantic',
      would_be: 'MISS',
      semantic: { threshold: null, shadow: false, embedding, question: 'asked' },
    });
    const messages = Array.from({ length: 5 }, () => ({ role: 'user', content: 'Hi' }));
    const long = await explain({ ...asked, body: { model: 'kept', messages } });
    expect(long.plan[0]?.cache?.semantic?.question).toBe('too_many_messages');
  });

  it('is counted apart from the requests it explains', async () => {
    await explain();
    const metrics = await (await fetch(scenario.stack.gatewayMetricsUrl)).text();
    expect(metrics).toMatch(/endpoint="explain"/);
  });

  describe('of the key of somebody else', () => {
    const about = (id: string, key: string) =>
      scenario.call(`/v1/explain/chat/completions?api_key_id=${id}`, { key });
    const admin = () => scenario.stack.credentials.admin_key;

    it('tells an admin what that key would be answered, limits and all', async () => {
      const limited = await newKey({
        rate_limits: [{ type: 'requests', unit: 'rpm', value: 7 }],
      });
      const response = await about(limited.id, admin());
      expect(response.status).toBe(200);
      const explanation = (await response.json()) as Explanation;
      expect(explanation.key.id).toBe(limited.id);
      expect(explanation.limits).toMatchObject([{ remaining: 7 }]);
      expect(explanation.plan).not.toEqual([]);
      expect(explanation).toEqual({
        ...(await explain({ key: limited.key })),
        request_id: explanation.request_id,
      });
    });

    it('says why that key would be refused', async () => {
      const reader = await newKey({ scopes: ['logs.view'] });
      const response = await about(reader.id, admin());
      expect(await response.json()).toMatchObject({
        would_fail: { code: 'auth.missing_scope', status: 403 },
      });
    });

    it('is for those who may read the key', async () => {
      const [asked, caller, reader] = await Promise.all([
        newKey(),
        newKey(),
        newKey({ scopes: ['workspace_service_api_keys.read'] }),
      ]);
      expect((await about(asked.id, reader.key)).status).toBe(200);
      const refused = await about(asked.id, caller.key);
      expect([refused.status, (await errorOf(refused)).code]).toEqual([403, 'auth.missing_scope']);
      for (const id of ['01a20447-776d-76a2-82b2-a3f8aa7332b1', 'no-id', '']) {
        const unknown = await about(id, admin());
        expect(await errorOf(unknown)).toMatchObject({
          code: 'request.invalid_field',
          param: 'query.api_key_id',
        });
      }
    });
  });
});
