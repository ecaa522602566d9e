import { canonicalHeaderPrefixes, headerPrefixes, spellingOf } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { arrivedHeaders, spelledError } from './header-names.ts';

const aliased = headerPrefixes('x-service-', ['x-portkey-']);

describe('arrivedHeaders', () => {
  it('are the request’s own object when there is one prefix', () => {
    const headers = { 'x-service-config': 'pc-1', 'x-portkey-config': 'pc-2' };
    expect(arrivedHeaders(canonicalHeaderPrefixes, headers)).toBe(headers);
    expect(headers).toEqual({ 'x-service-config': 'pc-1', 'x-portkey-config': 'pc-2' });
  });

  it.each([
    ['our prefix', canonicalHeaderPrefixes, 'x-service-'],
    ['an alias', aliased, 'x-portkey-'],
  ])('lose, under %s, what only the inside may say', (_name, prefixes, prefix) => {
    const headers = {
      [`${prefix}default-input-guardrails`]: '[]',
      [`${prefix}default-output-guardrails`]: '[]',
      [`${prefix}config`]: 'pc-1',
    };
    expect(arrivedHeaders(prefixes, headers)).toEqual({ 'x-service-config': 'pc-1' });
  });
});

describe('spelledError', () => {
  const error = new GatewayError('config.invalid', {
    field: 'x-service-config',
    message: 'x-service-config is not valid JSON.',
    faults: ['x-service-config: no'],
    status: 422,
    headers: { 'retry-after': '1' },
  });

  it('names headers as the caller spells them and keeps the rest', () => {
    const spelled = spelledError(error, spellingOf(aliased, { 'x-portkey-config': '{' }));
    expect(spelled).toMatchObject({
      code: 'config.invalid',
      status: 422,
      field: 'x-portkey-config',
      message: 'x-portkey-config is not valid JSON.',
      faults: ['x-portkey-config: no'],
      headers: { 'retry-after': '1' },
    });
  });

  it('is the same error when nothing has to be renamed', () => {
    expect(spelledError(error, canonicalHeaderPrefixes.mainSpelling)).toBe(error);
  });
});
