import type { JwtSettings } from '@sluice/contracts/admin';
import { describe, expect, it } from 'vitest';
import { checkClaims } from './check-claims.ts';

const nowS = 1_800_000_000;
const good = { exp: nowS + 100 };

function check(payload: object, over: Partial<JwtSettings> = {}) {
  const settings: JwtSettings = {
    algorithms: ['RS256'],
    clock_tolerance_s: 5,
    jwks_max_age_s: 600,
    ...over,
  };
  return checkClaims(payload as Record<string, unknown>, settings, nowS * 1000);
}

describe('dates', () => {
  it.each([
    ['no exp', {}],
    ['a text for exp', { exp: '2099-01-01' }],
    ['no number for exp', { exp: null }],
    ['an exp that is over', { exp: nowS - 5 }],
    ['an nbf to come', { ...good, nbf: nowS + 6 }],
    ['an iat to come', { ...good, iat: nowS + 6 }],
    ['a text for nbf', { ...good, nbf: 'soon' }],
  ])('%s is refused', (_, payload) => {
    expect(() => check(payload)).toThrow(
      expect.objectContaining({ code: 'auth.invalid_token', status: 401 }),
    );
  });

  it('may be wrong by the tolerance, and no more', () => {
    expect(check({ exp: nowS - 4, nbf: nowS + 5, iat: nowS + 5 })).toBe((nowS + 1) * 1000);
    expect(() => check({ exp: nowS - 4 }, { clock_tolerance_s: 0 })).toThrow('expired');
    expect(check({ exp: nowS - 200 }, { clock_tolerance_s: 300 })).toBe((nowS + 100) * 1000);
  });

  it('an end beyond all calendars is still a number', () => {
    expect(check({ exp: 1e300 })).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('token_max_age', () => {
  it.each([
    ['60s', 60],
    ['2m', 120],
    ['1h', 3_600],
    ['1d', 86_400],
    ['1w', 604_800],
  ])('%s ends a token by its iat', (age, ageS) => {
    const exp = nowS + 10_000_000;
    expect(check({ exp, iat: nowS }, { token_max_age: age })).toBe((nowS + ageS + 5) * 1000);
    expect(() => check({ exp, iat: nowS - ageS - 5 }, { token_max_age: age })).toThrow('too old');
  });

  it('asks for an iat', () => {
    expect(() => check(good, { token_max_age: '1d' })).toThrow('no claim iat');
  });
});

describe('claims that are asked for', () => {
  it('must be there', () => {
    const settings = { required_claims: ['jti'] };
    expect(check({ ...good, jti: 'x' }, settings)).toBeGreaterThan(0);
    expect(() => check(good, settings)).toThrow('jti');
    expect(() => check({ ...good, jti: null }, settings)).toThrow('jti');
  });

  it('must have one of the values, alone or in a list', () => {
    const settings = { claim_values: { aud: ['a', 'b'], iss: ['i'] } };
    expect(check({ ...good, aud: 'b', iss: 'i' }, settings)).toBeGreaterThan(0);
    expect(check({ ...good, aud: ['x', 'a'], iss: 'i' }, settings)).toBeGreaterThan(0);
    for (const aud of [undefined, 'c', ['c'], [['a']], { a: 1 }])
      expect(() => check({ ...good, aud, iss: 'i' }, settings)).toThrow('aud');
  });
});
