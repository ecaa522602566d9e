import { describe, expect, it } from 'vitest';
import { organisationOf, readClaims } from './claims.ts';

describe('readClaims', () => {
  it('reads everything a token may say', () => {
    expect(
      readClaims({
        service_oid: 'ORG-1',
        organisation_id: 'org-2',
        service_workspace: 'main',
        workspace_slug: 'other',
        scope: 'completions.write logs.read',
        defaults: { config_id: 'pc-a-1', metadata: { team: 'a', level: 3, nested: {} } },
        usage_limits: [{ id: 'u', type: 'cost', credit_limit: 2.5, status: 'active' }],
        rate_limits: [{ id: 'r', type: 'requests', unit: 'rpm', value: 10, status: 'active' }],
        email_id: 'alice@example.com',
        sub: 'alice',
        uid: '7',
      }),
    ).toEqual({
      organisation: 'org-1',
      workspace: 'main',
      scopes: ['completions.write', 'logs.read'],
      configId: 'pc-a-1',
      metadata: { team: 'a', level: '3' },
      usageLimits: [{ id: 'u', type: 'cost', creditLimit: 2.5 }],
      rateLimits: [{ type: 'requests', unit: 'rpm', value: 10 }],
      user: 'alice@example.com',
    });
  });

  it('reads nothing from nothing', () => {
    expect(readClaims({ defaults: 'x', sub: {} })).toEqual({
      organisation: undefined,
      workspace: undefined,
      scopes: undefined,
      configId: undefined,
      metadata: {},
      usageLimits: [],
      rateLimits: [],
      user: undefined,
    });
  });

  it.each([
    [{ scope: 'a.b  c.d' }, ['a.b', 'c.d']],
    [{ scopes: ['a.b', 'c:d'] }, ['a.b', 'c.d']],
    [{ scopes: 'service.a.b' }, ['a.b']],
    [{ scope: ['service.a:b', 'a.b', 5] }, ['a.b']],
    [{ scope: '', scopes: ['x.y'] }, ['x.y']],
    [{ scope: ' ' }, undefined],
    [{ scope: null, scopes: undefined }, undefined],
    // Who holds nothing is not given what those hold of whom nothing is said.
    [{ scope: [] }, []],
    [{ scopes: [7, ''] }, []],
    [{ scope: 7 }, []],
    [{ scope: { read: true } }, []],
  ])('reads the scopes of %j', (payload, scopes) => {
    expect(readClaims(payload).scopes).toEqual(scopes);
  });

  it.each([
    [{ email_id: 'e', sub: 's', uid: 'u' }, 'e'],
    [{ sub: 's', uid: 'u' }, 's'],
    [{ email_id: ' ', uid: 12 }, '12'],
  ])('finds the user of %j', (payload, user) => {
    expect(readClaims(payload).user).toBe(user);
  });

  it('does not count limits that are not active', () => {
    const limit = { type: 'tokens', unit: 'rpd', value: 5 };
    expect(
      readClaims({ rate_limits: [{ ...limit, status: 'exhausted' }, limit] }).rateLimits,
    ).toEqual([limit]);
  });

  // To leave one out would let the bearer do more than the issuer said.
  it.each([
    { rate_limits: [{ type: 'requests', unit: 'rpm' }] },
    { rate_limits: [{ type: 'requests', unit: 'per year', value: 1 }] },
    { rate_limits: [{ type: 'requests', unit: 'rpm', value: -1 }] },
    { rate_limits: 'many' },
    { rate_limits: Array.from({ length: 101 }, () => ({})) },
    { usage_limits: [{ type: 'cost', credit_limit: '5' }] },
    { usage_limits: [null] },
  ])('refuses limits that it cannot read: %j', (payload) => {
    expect(() => readClaims(payload)).toThrow(
      expect.objectContaining({ code: 'auth.invalid_token' }),
    );
  });
});

describe('the workspace', () => {
  it.each([undefined, null, '', '  '])('is not named by %j', (service_workspace) => {
    expect(readClaims({ service_workspace }).workspace).toBeUndefined();
    expect(readClaims({ service_workspace, workspace_slug: 'main' }).workspace).toBe('main');
  });

  // Left out, it would be the default workspace, which the issuer did not mean.
  it.each([[['main']], [{ slug: 'main' }], [true], [[]]])(
    'is refused where %j is in its place',
    (workspace) => {
      for (const name of ['service_workspace', 'workspace_slug'])
        expect(() => readClaims({ [name]: workspace })).toThrow(
          expect.objectContaining({ code: 'auth.invalid_token' }),
        );
    },
  );
});

describe('organisationOf', () => {
  it.each([
    [{ service_oid: 'A', organisation_id: 'b' }, 'a'],
    [{ organisation_id: 'B' }, 'b'],
    [{ service_oid: 5 }, '5'],
    [{}, undefined],
  ])('of %j', (payload, organisation) => {
    expect(organisationOf(payload)).toBe(organisation);
  });
});
