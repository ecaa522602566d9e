import { parseConfigDocument } from '@sluice/contracts';
import { compileConfig, directConfig, type ResolvedTarget } from '@sluice/engine';
import { describe, expect, it } from 'vitest';
import {
  type ExampleRequest,
  exampleBundle,
  exampleExchange,
  exampleKey,
  refusal,
} from '../../../test/exchange.ts';
import { resolveTarget } from './resolve-target.ts';

const bundle = exampleBundle({
  providers: [
    {
      slug: 'main',
      provider: 'openai',
      status: 'active',
      apiKey: 'sk-saved',
      allowAllModels: true,
      customHost: 'https://saved.example/v1/',
      customHeaders: { 'X-Team': 'a', Authorization: 'Custom x' },
      models: [
        {
          slug: 'gpt-own-host',
          enabled: true,
          customHost: 'https://model.example',
          customHeaders: { 'x-team': 'b' },
        },
      ],
    },
    {
      slug: 'most',
      provider: 'openai',
      status: 'active',
      allowAllModels: true,
      models: [{ slug: 'gpt-off', enabled: false }],
    },
    {
      slug: 'few',
      provider: 'openai',
      status: 'active',
      allowAllModels: false,
      models: [{ slug: 'gpt-on', enabled: true }],
    },
    {
      slug: 'open',
      provider: 'openai',
      status: 'active',
      allowAllModels: true,
      customHost: 'https://saved.example/v1/',
      models: [{ slug: 'gpt-own-host', enabled: true, customHost: 'https://model.example' }],
    },
    { slug: 'old', provider: 'openai', status: 'active', expiresAtMs: 1n },
    { slug: 'spent', provider: 'openai', status: 'exhausted', allowAllModels: true },
    { slug: 'odd', provider: 'never-heard-of', status: 'active', allowAllModels: true },
  ] as never,
});

function resolve(
  request: ExampleRequest & { model?: string; json?: object; config?: object; saves?: boolean },
) {
  const exchange = exampleExchange({ bundle, key: exampleKey(), ...request });
  exchange.subject.model = request.model ?? '';
  if (request.json !== undefined) exchange.subject.json = request.json as never;
  if (request.config !== undefined) {
    const parsed = parseConfigDocument(request.config, 'ignore');
    if (!parsed.ok) throw new Error(parsed.faults.join());
    exchange.config = {
      compiled: compileConfig(parsed.config, request.saves === true ? { slug: 'saved' } : {}),
      saved: undefined,
      source: 'inline',
    };
  }
  const [planned] = (exchange.config?.compiled ?? directConfig).targets;
  return resolveTarget(exchange, planned as ResolvedTarget);
}
const asking = (provider: string) => ({ headers: { 'x-service-provider': provider } });

describe('resolveTarget', () => {
  it('a config’s provider wins over the header, the header over the model', () => {
    const headers = { 'x-service-provider': '@main' };
    expect(resolve({ headers, config: { provider: 'anthropic' }, model: '@few/x' }).entry.id).toBe(
      'anthropic',
    );
    expect(resolve({ headers, model: '@few/gpt-on' }).saved?.slug).toBe('main');
    expect(resolve({ model: '@few/gpt-on' }).saved?.slug).toBe('few');
  });

  it('splits the slug from the model at the first slash only', () => {
    expect(resolve({ model: '@main/org/name/v1' })).toMatchObject({
      model: 'org/name/v1',
      rewritesModel: true,
    });
    expect(resolve({ ...asking('@main'), model: 'org/name' }).rewritesModel).toBe(false);
  });

  it('a model that an override names with its provider wins over the header', () => {
    const target = resolve({
      ...asking('@main'),
      model: 'gpt-4o',
      config: { override_params: { model: '@few/gpt-on' }, request_timeout: 5 },
    });
    expect([target.saved?.slug, target.model]).toEqual(['few', 'gpt-on']);
  });

  it('a config without a provider lends its settings to the header’s', () => {
    const target = resolve({
      ...asking('@main'),
      model: 'gpt-4o',
      config: { request_timeout: 5, override_params: { model: 'gpt-5' } },
    });
    expect(target).toMatchObject({ timeoutMs: 5, model: 'gpt-5', rewritesModel: true });
  });

  it.each([
    [
      'the header',
      {
        headers: { 'x-service-custom-host': 'https://header.example' },
        config: { custom_host: 'https://config.example' },
        model: 'gpt-own-host',
      },
      'https://header.example',
      'x-service-custom-host',
      'caller',
    ],
    [
      'the config',
      { config: { custom_host: 'https://config.example' }, model: 'gpt-own-host' },
      'https://config.example',
      'config.custom_host',
      'caller',
    ],
    ['the model', { model: 'gpt-own-host' }, 'https://model.example', 'model.custom_host', 'admin'],
    [
      'the provider',
      { model: 'gpt-4o' },
      'https://saved.example/v1/',
      '@open.custom_host',
      'admin',
    ],
  ])(
    'the host comes from %s',
    (_name, request: ExampleRequest & { model: string; config?: object }, url, field, by) => {
      const target = resolve({
        ...request,
        headers: { ...asking('@open').headers, ...request.headers },
      });
      expect(target.customHost).toEqual({ url, field, by });
    },
  );

  it('custom headers have one case, and a model’s win', () => {
    expect(resolve({ ...asking('@main'), model: 'gpt-own-host' }).customHeaders).toEqual({
      'x-team': 'b',
      authorization: 'Custom x',
    });
  });

  it('the credential is the config’s, then the saved one, then the caller’s', () => {
    const headers = { 'x-service-api-key': 'k', authorization: 'Bearer sk-caller' };
    const config = { provider: '@main', api_key: 'sk-config' };
    expect(resolve({ headers, config, saves: true }).apiKey).toBe('sk-config');
    expect(resolve({ headers, config: { provider: '@main' } }).apiKey).toBe('sk-saved');
    expect(resolve({ headers, config: { provider: 'openai' } }).apiKey).toBe('sk-caller');
  });

  it('leaves one that is said to be used up to its budget', () => {
    expect(resolve(asking('@spent')).saved?.slug).toBe('spent');
  });

  it.each<[string, Parameters<typeof resolve>[0], string]>([
    ['nothing named', { model: 'gpt-4o' }, 'provider.missing'],
    ['an @ without a slash', { model: '@main' }, 'provider.missing'],
    ['an unknown name', asking('nobody'), 'provider.unknown'],
    ['a name of every object', asking('constructor'), 'provider.unknown'],
    ['an unknown slug', asking('@nobody'), 'provider.not_found'],
    ['an expired one', asking('@old'), 'provider.unavailable'],
    ['one of another release', asking('@odd'), 'provider.unknown'],
    [
      'a model switched off',
      { ...asking('@most'), model: 'gpt-off' },
      'provider.model_not_allowed',
    ],
    [
      'the same in capitals',
      { ...asking('@most'), model: ' GPT-Off' },
      'provider.model_not_allowed',
    ],
    ['another one of them', { ...asking('@most'), model: 'gpt-on' }, 'none'],
    ['a model not listed', { ...asking('@few'), model: 'gpt-other' }, 'provider.model_not_allowed'],
    ['a model listed', { ...asking('@few'), model: 'gpt-on' }, 'none'],
  ])('%s', async (_name, request, code) => {
    expect(await refusal(() => resolve(request))).toMatchObject({ code });
  });
});
