import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { readOauthToken, tokenFailure } from './token-endpoint.ts';

const reply = (body: object) => ({ status: 200, text: JSON.stringify(body) });
const live = new AbortController().signal;

describe('readOauthToken', () => {
  it('reads how long a token is good, by either name, as a number or as text', () => {
    const until = (over: object) =>
      readOauthToken('It', reply({ access_token: 't', ...over }), 1_000).expiresAtMs;
    expect(until({ expires_in: 60 })).toBe(61_000);
    expect(until({ expires_in: '60' })).toBe(61_000);
    expect(until({ expires_on: '90' })).toBe(90_000);
    expect(until({})).toBe(61_000);
    expect(until({ expires_in: -1 })).toBe(61_000);
  });
});

describe('tokenFailure', () => {
  it('is the reason of who left', () => {
    const reason = new GatewayError('request.aborted');
    expect(tokenFailure('It', new Error('x'), AbortSignal.abort(reason))).toBe(reason);
  });

  it.each([
    [new GatewayError('upstream.timeout'), live, 'It did not answer within 10 s.'],
    [new Error('x'), AbortSignal.abort(new Error('deadline')), 'It did not answer within 10 s.'],
    [new GatewayError('host.invalid'), live, 'It is at an address that is not allowed.'],
    [new GatewayError('upstream.unreachable'), live, 'It could not be reached.'],
    [new Error('ECONNRESET'), live, 'It could not be reached.'],
  ])('says what became of the step (%#)', (caught, signal, message) => {
    expect(tokenFailure('It', caught, signal)).toMatchObject({
      code: 'provider.authorisation_failed',
      message,
      cause: caught,
    });
  });
});
