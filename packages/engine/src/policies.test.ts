import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestFacts, TargetFacts } from './facts.ts';
import {
  compilePolicies,
  entityCounters,
  explainPolicies,
  matchPolicies,
  type RateLimitsPolicyInput,
} from './policies.ts';

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

function policy(over: Partial<RateLimitsPolicyInput>): RateLimitsPolicyInput {
  return {
    id: 'p1',
    name: 'team limit',
    type: 'requests',
    unit: 'rpm',
    value: 10,
    conditions: [],
    groupBy: ['api_key'],
    ...over,
  };
}

function condition(key: string, values: string[], excludes: string[] = []) {
  return { key, values, excludes };
}

function matched(over: Partial<RateLimitsPolicyInput>, facts = request): number {
  const compiled = compilePolicies([policy(over)]);
  return (
    matchPolicies(compiled, 'request', facts).length +
    matchPolicies(compiled, 'target', facts, target).length
  );
}

describe('conditions', () => {
  it.each([
    ['workspace by id', condition('workspace_id', ['ws-uuid']), 1],
    ['workspace by slug', condition('workspace_id', ['ws-team-1']), 1],
    ['another workspace', condition('workspace_id', ['ws-other']), 0],
    ['any key', condition('api_key', ['*']), 1],
    ['this key', condition('api_key', ['key-uuid']), 1],
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

describe('explainPolicies', () => {
  it('says of each policy of the level whether it applies, and which condition is not met', () => {
    const compiled = compilePolicies([
      policy({ id: 'a' }),
      policy({
        id: 'b',
        conditions: [condition('api_key', ['*']), condition('metadata.env', ['staging'])],
      }),
      policy({ id: 'c', groupBy: ['model'] }),
    ]);
    const explained = explainPolicies(compiled, 'request', request);
    expect(explained.map((match) => [match.policy.id, match.unmet])).toEqual([
      ['a', undefined],
      ['b', 'metadata.env'],
    ]);
    expect(explained.map((match) => match.counter?.key)).toEqual([
      'p:a:rpm:api_key:key-uuid',
      undefined,
    ]);
  });

  it('agrees with matchPolicies', () => {
    const values = fc.array(fc.constantFrom('*', 'prod', 'dev', 'alice', 'gpt-4*'), {
      minLength: 1,
      maxLength: 2,
    });
    const conditions = fc.array(
      fc.tuple(fc.constantFrom('metadata.env', 'metadata._user', 'model', 'api_key'), values),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(fc.array(conditions, { maxLength: 4 }), (documents) => {
        const compiled = compilePolicies(
          documents.map((entries, index) =>
            policy({
              id: `p${index}`,
              conditions: entries.map(([key, list]) => condition(key, list)),
            }),
          ),
        );
        for (const level of ['request', 'target'] as const)
          expect(
            explainPolicies(compiled, level, request, target).flatMap(
              (match) => match.counter ?? [],
            ),
          ).toEqual(matchPolicies(compiled, level, request, target));
      }),
    );
  });
});

describe('group_by', () => {
  const keyOf = (groupBy: string[], facts: RequestFacts) =>
    matchPolicies(compilePolicies([policy({ groupBy })]), 'request', facts)[0]?.key;

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
    const [counter] = matchPolicies(
      compilePolicies([policy({ groupBy: ['api_key'] })]),
      'request',
      request,
    );
    expect(counter?.entity).toBe('API key "ci-key"');
    expect(counter?.entity).not.toContain('key-uuid');
  });

  it('depend on the target only when provider, virtual key or model are involved', () => {
    const compiled = compilePolicies([
      policy({ id: 'a' }),
      policy({ id: 'b', groupBy: ['model'] }),
    ]);
    expect(matchPolicies(compiled, 'request', request).map((counter) => counter.key)).toEqual([
      'p:a:rpm:api_key:key-uuid',
    ]);
    expect(
      matchPolicies(compiled, 'target', request, target).map((counter) => counter.key),
    ).toEqual(['p:b:rpm:model:%40openai-prod%2Fgpt-4o']);
  });

  it('of long values have short names, each its own', () => {
    const compiled = compilePolicies([policy({ id: 'a', groupBy: ['metadata.team'] })]);
    const keyOf = (team: string) =>
      matchPolicies(compiled, 'request', { ...request, metadata: { team } })[0]?.key ?? '';
    const long = 'x'.repeat(5000);
    expect(keyOf(long).length).toBeLessThan(150);
    expect(keyOf(`${long}a`)).not.toBe(keyOf(`${long}b`));
    expect(keyOf('\ud800')).toBe(keyOf('\ufffd'));
  });

  it('come from limits set on an entity itself', () => {
    const limits = [
      { type: 'requests', unit: 'rpm', value: 5 },
      { type: 'requests', unit: 'fortnight', value: 5 },
    ];
    expect(entityCounters(limits, 'api_key', 'id-1', 'ci-key')).toEqual([
      {
        key: 'api_key:id-1:requests:rpm',
        type: 'requests',
        unit: 'rpm',
        limit: 5,
        entity: 'API key "ci-key"',
        policyName: undefined,
      },
    ]);
  });
});
