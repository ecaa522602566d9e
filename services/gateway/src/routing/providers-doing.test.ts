import { compileConfig } from '@sluice/engine';
import { usage } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey } from '../../test/exchange.ts';
import { resolveTarget } from '../visit/targets/resolve-target.ts';
import { heardOf, isOnConfigsTerms } from './providers-doing.ts';

const bundle = exampleBundle({
  providers: [
    { slug: 'gpt', provider: 'openai', status: 'active', apiKey: 'sk', allowAllModels: true },
    { slug: 'own', provider: 'openai', status: 'active', allowAllModels: true },
  ] as never,
});

/** One target of a config, for a request with these headers. */
function asked(config: object, headers: Record<string, string> = {}, isProxy = false) {
  const exchange = exampleExchange({ bundle, key: exampleKey(), headers, isProxy });
  exchange.subject.model = 'gpt-4o';
  const [planned] = compileConfig(config as never).targets;
  if (planned === undefined) throw new Error('a config has a target');
  return { exchange, target: resolveTarget(exchange, planned) };
}

const onTerms = (...request: Parameters<typeof asked>) => {
  const { exchange, target } = asked(...request);
  return isOnConfigsTerms(exchange, target);
};

describe('a call is on the terms of its config', () => {
  it.each<[string, object, Record<string, string>]>([
    ['with a saved provider', { provider: '@gpt' }, {}],
    [
      'with its own key and host',
      { provider: 'openai', api_key: 'k', custom_host: 'https://a.example' },
      {},
    ],
    ['with a shorter timeout', { provider: '@gpt' }, { 'x-service-request-timeout': '10' }],
    [
      'with its own list of headers',
      { provider: '@gpt', forward_headers: ['x-team'] },
      { 'x-team': 'a' },
    ],
    [
      'with a credential that a saved provider does not use',
      { provider: '@gpt' },
      { authorization: 'Bearer x' },
    ],
    ['with a version of the format', { provider: '@gpt' }, { 'openai-beta': 'assistants=v2' }],
    [
      'with a setting that the config sets itself',
      { provider: 'azure-openai', api_key: 'k', azure_api_version: 'a' },
      { 'x-service-azure-api-version': 'b' },
    ],
  ])('%s', (_, config, headers) => {
    expect(onTerms(config, headers)).toBe(true);
  });

  it.each<[string, object, Record<string, string>]>([
    ['a host', { provider: '@own' }, { 'x-service-custom-host': 'https://a.example' }],
    [
      'a key',
      { provider: 'openai' },
      { 'x-service-api-key': 'service', authorization: 'Bearer x' },
    ],
    ['a provider', { retry: { attempts: 1 } }, { 'x-service-provider': '@gpt' }],
    ['headers to forward', { provider: '@gpt' }, { 'x-service-forward-headers': 'x-a' }],
    ['a forwarded credential', { provider: '@own', forward_headers: ['Authorization'] }, {}],
    ['an organisation', { provider: '@own' }, { 'openai-organization': 'org' }],
    [
      'a deployment',
      { provider: 'azure-openai', api_key: 'k', azure_resource_name: 'r' },
      { 'x-service-azure-deployment-id': 'd' },
    ],
  ])('but not with %s of the request', (_, config, headers) => {
    expect(onTerms(config, headers)).toBe(false);
  });

  it('but not when it is passed through', () => {
    expect(onTerms({ provider: '@gpt' }, {}, true)).toBe(false);
  });
});

const { Outcome } = usage;

describe('what is heard of a call', () => {
  it.each<[keyof typeof Outcome, number, string, object, Record<string, string>, string]>([
    ['SUCCESS', 200, '', {}, {}, 'success'],
    ['DENIED', 446, 'guardrail.denied', {}, {}, 'success'],
    ['DENIED', 400, 'request.invalid_host', {}, {}, 'nothing'],
    ['CALLER_GONE', 499, 'request.aborted', {}, {}, 'nothing'],
    ['GATEWAY_ERROR', 500, 'internal', {}, {}, 'nothing'],
    ['PARTIAL', 200, 'upstream.stream_cut', {}, {}, 'failure'],
    ['PARTIAL', 200, 'gateway.draining', {}, {}, 'nothing'],
    ['GATEWAY_ERROR', 503, 'gateway.draining', {}, {}, 'nothing'],
    ['UPSTREAM_FAILURE', 503, 'upstream.unreachable', {}, {}, 'failure'],
    ['UPSTREAM_FAILURE', 502, 'upstream.response_too_large', {}, {}, 'nothing'],
    ['UPSTREAM_FAILURE', 408, 'upstream.timeout', {}, {}, 'failure'],
    [
      'UPSTREAM_FAILURE',
      408,
      'upstream.timeout',
      {},
      { 'x-service-request-timeout': '10' },
      'nothing',
    ],
    [
      'UPSTREAM_FAILURE',
      408,
      'upstream.timeout',
      { request_timeout: 5 },
      { 'x-service-request-timeout': '10' },
      'failure',
    ],
    ['UPSTREAM_ERROR', 503, 'upstream.error', {}, { 'x-service-request-timeout': '10' }, 'failure'],
    ['UPSTREAM_ERROR', 429, 'upstream.error', {}, {}, 'failure'],
    ['UPSTREAM_ERROR', 401, 'upstream.error', {}, {}, 'failure'],
    ['UPSTREAM_ERROR', 400, 'upstream.error', {}, {}, 'nothing'],
    ['UPSTREAM_ERROR', 422, 'upstream.error', {}, {}, 'nothing'],
    ['UPSTREAM_ERROR', 404, 'upstream.error', {}, {}, 'nothing'],
    [
      'UPSTREAM_ERROR',
      404,
      'upstream.error',
      { override_params: { model: 'gpt-4o' } },
      {},
      'failure',
    ],
  ])('%s %i %s with %j and %j', (outcome, status, errorCode, over, headers, heard) => {
    const { exchange, target } = asked({ provider: '@gpt', ...over }, headers);
    const call = { outcome: Outcome[outcome], status, errorCode };
    expect(heardOf(call, exchange, target, 300_000)).toBe(heard);
  });
});
