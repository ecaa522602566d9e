import { canonicalHeaderPrefixes, headerPrefixes, spellingOf } from '@sluice/contracts';
import type { ResolvedTarget } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { findProvider } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import { exampleExchange } from '../../test/exchange.ts';
import { exampleState } from '../../test/limits.ts';
import { Visit } from '../exchange/exchange.ts';
import type { Target } from '../exchange/target.ts';
import { errorBody, errorHeaders } from './error-reply.ts';

describe('errorHeaders', () => {
  it('before routing says nothing of a provider', () => {
    const headers = errorHeaders(new GatewayError('internal'), exampleExchange());
    expect(Object.keys(headers).sort()).toEqual([
      'content-type',
      'x-request-id',
      'x-service-attempts',
      'x-service-cache-status',
      'x-service-request-id',
      'x-service-retry-attempt-count',
      'x-service-trace-id',
    ]);
  });

  it('names the provider once it is known, and marks faults of ours as exceptions', () => {
    const exchange = exampleExchange();
    exchange.isRouting = true;
    const visit = new Visit(exchange, { path: 'config.targets[0]' } as ResolvedTarget);
    visit.target = { entry: findProvider('openai') } as Target;
    exchange.visits.push(visit);
    const ours = errorHeaders(new GatewayError('internal'), exchange);
    expect(ours).toMatchObject({
      'x-service-provider': 'openai',
      'x-service-last-used-option-index': 'config.targets[0]',
      'x-service-gateway-exception': 'true',
    });
    const theirs = errorHeaders(new GatewayError('upstream.timeout'), exchange);
    expect(theirs['x-service-gateway-exception']).toBeUndefined();
  });

  it('tells what is left of the limits; a refusal’s own numbers win', () => {
    const exchange = exampleExchange();
    const visit = new Visit(exchange, { path: 'config.targets[0]' } as ResolvedTarget);
    visit.limitStates = [
      exampleState({}, { remaining: 4, resetAtMs: exchange.arrival.startedAtMs + 30_000 }),
    ];
    exchange.visits.push(visit);
    const remaining = 'x-service-ratelimit-remaining-requests';
    expect(errorHeaders(new GatewayError('upstream.reset'), exchange)[remaining]).toBe('4');
    const refused = new GatewayError('limit.rate_exceeded', { headers: { [remaining]: '0' } });
    expect(errorHeaders(refused, exchange)[remaining]).toBe('0');
  });
});

it('callers of messages get Anthropic’s shape', () => {
  const error = new GatewayError('provider.missing');
  const body = (endpoint: 'messages' | 'chatComplete') =>
    JSON.parse(
      errorBody(
        error,
        exampleExchange({ endpoint }),
        canonicalHeaderPrefixes.mainSpelling,
      ).toString(),
    );
  expect(body('messages')).toMatchObject({ type: 'error', error: { code: 'provider.missing' } });
  expect(body('chatComplete').type).toBeUndefined();
});

it('headers are named as the caller spells them', () => {
  const error = new GatewayError('provider.missing', { field: 'x-service-provider' });
  const spelling = spellingOf(headerPrefixes('x-service-', ['x-acme-']), { 'x-acme-debug': '1' });
  const body = JSON.parse(errorBody(error, exampleExchange(), spelling).toString());
  expect(body.error).toMatchObject({
    param: 'x-acme-provider',
    message: 'Either x-acme-config or x-acme-provider is required.',
  });
});

it('who spells headers otherwise is told the same of a provider’s fault', () => {
  const vendor = { code: 'content_filter', param: 'prompt' };
  const error = new GatewayError('upstream.error', { type: 'content_error', vendor });
  const spelling = spellingOf(headerPrefixes('x-service-', ['x-acme-']), { 'x-acme-debug': '1' });
  const told = (by: typeof spelling) =>
    JSON.parse(errorBody(error, exampleExchange(), by).toString()).error;
  expect(told(spelling)).toEqual(told(canonicalHeaderPrefixes.mainSpelling));
});
