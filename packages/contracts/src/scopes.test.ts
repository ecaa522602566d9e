import { describe, expect, it } from 'vitest';
import { keyTypes, normaliseScope, scopesOf } from './index.ts';

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
