import { describe, expect, it } from 'vitest';
import { keyTypes, normaliseScope, roleAllowsScope, roleInWorkspace, scopesOf } from './index.ts';

describe('scopesOf', () => {
  it('lists what each kind of key can hold, without doubles', () => {
    expect(keyTypes.map((type) => scopesOf(type).length)).toEqual([133, 91, 79]);
    for (const type of keyTypes) expect(new Set(scopesOf(type)).size).toBe(scopesOf(type).length);
  });

  it('keeps inference away from organisation keys and key management away from user keys', () => {
    expect(scopesOf('organisation-service')).not.toContain('completions.write');
    expect(scopesOf('workspace-user').filter((scope) => scope.includes('api_keys'))).toEqual([]);
  });

  it('takes a colon for a dot', () => {
    expect(normaliseScope('completions:write')).toBe('completions.write');
  });
});

describe('roleAllowsScope', () => {
  it('lets members look and call models, and change nothing', () => {
    const allowed = scopesOf('workspace-user').filter((scope) => roleAllowsScope('member', scope));
    expect(allowed).toContain('completions.write');
    expect(
      allowed.filter((scope) => /\.(create|update|delete|publish|export)$/.test(scope)),
    ).toEqual([]);
  });

  it('makes owners and admins of the organisation admins of every workspace', () => {
    expect(roleInWorkspace('owner', undefined)).toBe('admin');
    expect(roleInWorkspace('member', 'manager')).toBe('manager');
    expect(roleInWorkspace('member', undefined)).toBeUndefined();
  });
});
