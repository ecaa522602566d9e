import { ownTime } from '@sluice/testkit/own-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestFacts, TargetFacts } from '../facts.ts';
import { epochAt } from './epoch.ts';
import { counterName } from './limit.ts';
import {
  type CompiledPolicy,
  compileBudgetPolicy,
  compileRatePolicy,
  type PolicyConditions,
} from './policies.ts';
import { PolicyIndex } from './policy-index.ts';

const request: RequestFacts = {
  organisationId: 'org-1',
  workspaceId: 'ws-uuid',
  workspaceSlug: 'ws-team-1',
  apiKeyId: 'key-uuid',
  apiKeySlug: 'ci-key',
  endpoint: 'chatComplete',
  metadata: { _user: 'alice', env: 'prod' },
  configSlug: 'pc-main-1',
  promptSlug: undefined,
};
const target: TargetFacts = { provider: 'openai', providerSlug: 'openai-prod', model: 'gpt-4o' };

function policy(over: Partial<PolicyConditions>): CompiledPolicy {
  const compiled = compileRatePolicy(
    {
      id: 'p1',
      name: 'team limit',
      workspaceId: 'ws-uuid',
      conditions: [],
      groupBy: ['api_key'],
      ...over,
    },
    { type: 'requests', unit: 'rpm', value: 10 },
  );
  if (compiled === undefined) throw new Error('not counted');
  return compiled;
}

function condition(key: string, values: string[], excludes: string[] = []) {
  return { key, values, excludes };
}

function matchAll(policies: readonly CompiledPolicy[], facts = request) {
  return [
    ...new PolicyIndex(policies, 'request').match(facts),
    ...new PolicyIndex(policies, 'target').match(facts, target),
  ];
}

const matched = (over: Partial<PolicyConditions>, facts = request) =>
  matchAll([policy(over)], facts).length;

describe('conditions', () => {
  it.each([
    ['workspace by id', condition('workspace_id', ['ws-uuid']), 1],
    ['workspace by slug', condition('workspace_id', ['ws-team-1']), 1],
    ['another workspace', condition('workspace_id', ['ws-other']), 0],
    ['any key', condition('api_key', ['*']), 1],
    ['this key by id', condition('api_key', ['key-uuid']), 1],
    ['this key by slug', condition('api_key', ['CI-key']), 1],
    ['all keys but this one', condition('api_key', ['*'], ['ci-key']), 0],
    ['one of several values', condition('endpoint_type', ['embed', 'chatComplete']), 1],
    ['endpoint in another case', condition('endpoint_type', ['CHATCOMPLETE ']), 1],
    ['metadata present', condition('metadata._user', ['*']), 1],
    ['metadata absent', condition('metadata.team', ['*']), 0],
    ['metadata prefix', condition('metadata.env', ['pr*']), 1],
    ['excluded value', condition('metadata._user', ['*'], ['alice']), 0],
    ['other excluded', condition('metadata._user', ['*'], ['bob']), 1],
    ['model by saved provider', condition('model', ['@openai-prod/*']), 1],
    ['model by provider name', condition('model', ['@openai/gpt-4o']), 1],
    ['model by bare name', condition('model', ['gpt-4*']), 1],
    ['model of another provider', condition('model', ['@azure/*']), 0],
    ['virtual key', condition('virtual_key', ['openai-prod']), 1],
    ['config', condition('config', ['pc-main-1']), 1],
    ['prompt when there is none', condition('prompt', ['*']), 0],
    ['an unknown key', condition('nonsense', ['*']), 0],
  ])('%s', (_name, entry, expected) => {
    expect(matched({ conditions: [entry] })).toBe(expected);
  });

  it('are ANDed', () => {
    const both = [condition('api_key', ['*']), condition('metadata.env', ['staging'])];
    expect(matched({ conditions: both })).toBe(0);
  });
});

describe('tools', () => {
  const search: RequestFacts = {
    ...request,
    mcpServers: ['web', 'all'],
    mcpTools: ['search', 'web__search'],
  };

  it('are told apart from models, and counted by the names that their server gives them', () => {
    const rate = policy({
      conditions: [condition('mcp_tool', ['Search'])],
      groupBy: ['mcp_server', 'mcp_tool'],
    });
    const policies = new PolicyIndex([rate], 'request');
    expect(policies.match(search).map(({ group }) => group)).toEqual([
      'mcp_server:web,mcp_tool:search',
    ]);
    expect(policies.match(search)[0]?.entity).toBe('MCP server "web", tool "search"');
    expect(policies.match({ ...search, mcpTools: ['fetch', 'search'] })).toHaveLength(1);
    expect(policies.match({ ...search, mcpTools: ['fetch'] })).toHaveLength(0);
    expect(policies.match(request)).toHaveLength(0);
  });
});

describe('explain', () => {
  it('says of each policy of the level whether it applies, and which condition is not met', () => {
    const index = new PolicyIndex(
      [
        policy({ id: 'a' }),
        policy({
          id: 'b',
          conditions: [condition('api_key', ['*']), condition('metadata.env', ['staging'])],
        }),
        policy({ id: 'c', groupBy: ['model'] }),
      ],
      'request',
    );
    const explained = index.explain(request);
    expect(explained.map((match) => [match.policy.id, match.unmet])).toEqual([
      ['a', undefined],
      ['b', 'metadata.env'],
    ]);
    expect(explained.map((match) => match.counter?.group)).toEqual(['api_key:key-uuid', undefined]);
  });

  it('agrees with what the index finds, in the same order', () => {
    const values = fc.array(
      fc.constantFrom('*', 'prod', 'dev', 'ALICE ', 'key-uuid', 'gpt-4*', '@openai/*', 'gpt-4o'),
      { maxLength: 3 },
    );
    const conditions = fc.array(
      fc.tuple(
        fc.constantFrom('metadata.env', 'metadata._user', 'metadata.none', 'model', 'api_key'),
        values,
        values,
      ),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(fc.array(conditions, { maxLength: 6 }), (documents) => {
        const compiled = documents.map((entries, index) =>
          policy({
            id: `p${index}`,
            conditions: entries.map(([key, list, excludes]) => condition(key, list, excludes)),
          }),
        );
        for (const level of ['request', 'target'] as const) {
          const index = new PolicyIndex(compiled, level);
          expect(index.match(request, target)).toEqual(
            index.explain(request, target).flatMap((match) => match.counter ?? []),
          );
        }
      }),
    );
  });

  it('finds for each request its own, whatever those before it said', () => {
    const said = fc.constantFrom('', 'a', 'b', '1:a', 'a-', undefined);
    const factsList = fc.array(
      fc.record({
        key: fc.constantFrom('k1', 'k2'),
        config: said,
        one: said,
        two: said,
        model: said,
        prompt: said,
        slug: said,
        passesThrough: fc.boolean(),
        servers: fc.option(fc.array(fc.constantFrom('a', 'b', 'k1')), { nil: undefined }),
      }),
      { minLength: 2, maxLength: 20 },
    );
    const keys = fc.subarray(
      [
        ...[
          'api_key',
          'config',
          'metadata.one',
          'metadata.two',
          'model',
          'virtual_key',
          'provider',
        ],
        ...['prompt', 'workspace_id', 'organisation_id', 'endpoint_type', 'mcp_server', 'mcp_tool'],
      ],
      { maxLength: 2 },
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(keys, keys), { maxLength: 6 }), factsList, (shapes, asked) => {
        const compiled = shapes.map(([conditions, groupBy], at) =>
          policy({
            id: `p${at}`,
            conditions: conditions.map((key) => condition(key, ['a', 'k1', 'proxy'])),
            groupBy,
          }),
        );
        for (const level of ['request', 'target'] as const) {
          const index = new PolicyIndex(compiled, level);
          for (const each of asked) {
            const {
              key,
              config,
              one,
              two,
              model,
              prompt,
              slug = '',
              passesThrough,
              servers,
            } = each;
            const metadata = Object.fromEntries(
              Object.entries({ one, two }).filter(([, value]) => value !== undefined),
            ) as Record<string, string>;
            const facts = {
              ...request,
              apiKeyId: key,
              apiKeySlug: `${key}-slug`,
              configSlug: config,
              promptSlug: prompt,
              workspaceId: slug,
              workspaceSlug: key,
              organisationId: slug,
              passesThrough,
              mcpServers: servers,
              mcpTools: servers,
              metadata,
            };
            const of = { provider: key, providerSlug: slug, model };
            expect(index.match(facts, of)).toEqual(
              index.explain(facts, of).flatMap((match) => match.counter ?? []),
            );
          }
        }
      }),
    );
  });

  it('finds one policy in ten thousand without looking at the others', () => {
    const policies = Array.from({ length: 10_000 }, (_, at) =>
      policy({
        id: `p${at}`,
        conditions: [condition('api_key', ['*']), condition('metadata.team', [`team-${at}`])],
        groupBy: ['metadata._user'],
      }),
    );
    const index = new PolicyIndex(policies, 'request');
    const factsOf = (round: number) => ({
      ...request,
      metadata: { _user: `user-${round}`, team: 'team-7777' },
    });
    expect(index.match(factsOf(0))).toHaveLength(1);
    const rounds = 20_000;
    for (let round = 0; round < rounds; round++) index.match(factsOf(round));
    const spentMs = ownTime();
    // None of which it remembers anything.
    for (let round = 0; round < rounds; round++) index.match(factsOf(round));
    expect((1000 * spentMs()) / rounds).toBeLessThan(20);
  });
});

describe('group_by', () => {
  const keyOf = (groupBy: string[], facts: RequestFacts) =>
    new PolicyIndex([policy({ groupBy })], 'request').match(facts)[0]?.group;

  it('counts each combination apart', () => {
    const alice = keyOf(['metadata._user', 'metadata.env'], request);
    const bob = keyOf(['metadata._user', 'metadata.env'], {
      ...request,
      metadata: { _user: 'bob', env: 'prod' },
    });
    expect(alice).not.toBe(bob);
  });

  it('counts requests without the value in one group of their own', () => {
    const without = keyOf(['metadata._user'], { ...request, metadata: {} });
    expect(without).toBeDefined();
    expect(without).not.toBe(keyOf(['metadata._user'], request));
  });

  it('counts text with half a character like any other', () => {
    const key = keyOf(['metadata.x'], { ...request, metadata: { x: 'a\ud800' } });
    expect(key).toContain('metadata.x:a%EF%BF%BD');
  });

  it('never joins two combinations, whatever the values contain', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (a, b, c, d) => {
        const normal = (text: string) => text.trim().toLowerCase();
        const same = normal(a) === normal(c) && normal(b) === normal(d);
        const left = keyOf(['metadata.x', 'metadata.y'], { ...request, metadata: { x: a, y: b } });
        const right = keyOf(['metadata.x', 'metadata.y'], { ...request, metadata: { x: c, y: d } });
        expect(left === right).toBe(same);
      }),
    );
  });
});

describe('counters', () => {
  it('name the entity by slug, never by id', () => {
    const [counter] = matchAll([policy({ groupBy: ['api_key'] })]);
    expect(counter?.entity).toBe('API key "ci-key"');
  });

  it('are called by their limit, their group and their epoch', () => {
    const [grouped] = matchAll([policy({ id: 'a', groupBy: ['metadata._user'] })]);
    const [alone] = matchAll([policy({ id: 'a', groupBy: [] })]);
    if (grouped === undefined || alone === undefined) throw new Error('both apply');
    expect(counterName(grouped, '17')).toBe('a:metadata._user:alice@17');
    expect(counterName(alone, '0.5')).toBe('a@0.5');
  });

  it('depend on the target only when provider, virtual key or model are involved', () => {
    const compiled = [policy({ id: 'a' }), policy({ id: 'b', groupBy: ['model'] })];
    expect(new PolicyIndex(compiled, 'request').match(request).map(({ group }) => group)).toEqual([
      'api_key:key-uuid',
    ]);
    expect(
      new PolicyIndex(compiled, 'target').match(request, target).map(({ group }) => group),
    ).toEqual(['model:%40openai-prod%2Fgpt-4o']);
  });

  it('of long values have short names, each its own', () => {
    const index = new PolicyIndex([policy({ groupBy: ['metadata.team'] })], 'request');
    const keyOf = (team: string) => index.match({ ...request, metadata: { team } })[0]?.group ?? '';
    const long = 'x'.repeat(5000);
    expect(keyOf(long).length).toBeLessThan(150);
    expect(keyOf(`${long}a`)).not.toBe(keyOf(`${long}b`));
    expect(keyOf('\ud800')).toBe(keyOf('\ufffd'));
  });

  it('of groups that were reset by hand count in an epoch of their own, while the period lasts', () => {
    const policy = compileBudgetPolicy(
      {
        id: 'a',
        name: '',
        workspaceId: '',
        conditions: [],
        groupBy: ['metadata._user'],
        resets: [{ group: 'metadata._user:alice', generation: 2, periodStartMs: 1000 }],
      },
      {
        id: 'b',
        type: 'cost',
        value: 5,
        period: {
          generation: 1,
          startedAtMs: 1000,
          nextResetAtMs: 86_400_000,
          cadence: 'days',
          days: 1,
          weeksBeginOnSunday: false,
        },
      },
    );
    const epochOf = (_user: string, nowMs: number) => {
      const [counter] = matchAll(policy === undefined ? [] : [policy], {
        ...request,
        metadata: { _user },
      });
      return counter && counterName(counter, epochAt(counter, nowMs).name);
    };
    expect(epochOf('alice', 2000)).toBe('b:metadata._user:alice@3.1000');
    expect(epochOf('bob', 2000)).toBe('b:metadata._user:bob@1.1000');
    expect(epochOf('alice', 86_400_000)).toBe('b:metadata._user:alice@1.86400000');
  });
});
