import { parseConfigDocument } from '@sluice/contracts';
import { compileConfig, directConfig, type ResolvedTarget } from '@sluice/engine';
import { describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey, refusal } from '../../../test/exchange.ts';
import { resolveTarget } from './resolve-target.ts';

const on = (...slugs: string[]) => slugs.map((slug) => ({ slug, enabled: true }));
const saved = (slug: string, provider: string, over: object) => ({
  slug,
  provider,
  status: 'active',
  apiKey: 'sk-saved',
  ...over,
});
const deployments = JSON.stringify({
  azure_resource_name: 'r',
  azure_deployment_config: [
    { alias: 'gpt-4o', azure_deployment_name: 'prod-4o', azure_model_slug: 'gpt-4o-2024' },
    { alias: 'gpt-5', azure_deployment_name: 'prod-5', is_default: true },
  ],
});
const bundle = exampleBundle({
  providers: [
    saved('azure', 'azure-openai', { configurationsJson: deployments, models: on('gpt-4o') }),
    saved('open', 'azure-openai', { configurationsJson: deployments, allowAllModels: true }),
    saved('plain', 'azure-openai', { allowAllModels: true }),
    saved('fixed', 'azure-openai', {
      configurationsJson: '{"azure_resource_name":"r","azure_deployment_id":"prod"}',
      models: on('gpt-4o'),
    }),
    saved('vertex', 'vertex-ai', { models: on('anthropic.claude-x', 'gemini-x') }),
    saved('bedrock', 'bedrock', {
      allowAllModels: true,
      models: [{ slug: 'anthropic.claude-x', enabled: false }],
    }),
    saved('openai', 'openai', { models: on('gpt-4o') }),
  ] as never,
});

interface Asked {
  model?: string;
  path?: string;
  headers?: Record<string, string>;
  config?: object;
}

function resolve(provider: string, { model = '', path, headers, config }: Asked) {
  const exchange = exampleExchange({
    bundle,
    key: exampleKey(),
    headers: { 'x-service-provider': `@${provider}`, ...headers },
    isProxy: path !== undefined,
    pathname: `/v1/proxy${path ?? ''}`,
    body: '{}',
  });
  exchange.subject.model = model;
  exchange.subject.body = Buffer.from('{}');
  exchange.subject.json = model === '' ? {} : { model };
  const parsed = parseConfigDocument(config ?? {}, 'ignore');
  if (!parsed.ok) throw new Error(parsed.faults.join());
  const { targets } =
    config === undefined ? directConfig : compileConfig(parsed.config, { slug: 'saved' });
  return resolveTarget(exchange, targets[0] as ResolvedTarget);
}

describe('the model that serves a request', () => {
  it.each<[string, string, Asked, string]>([
    ['is the one asked for', 'openai', { model: 'gpt-4o' }, 'gpt-4o'],
    ['is the one whose deployment admins chose', 'azure', { model: 'gpt-4o' }, 'gpt-4o'],
    ['is the same at a deployment for all', 'fixed', { model: 'gpt-4o' }, 'gpt-4o'],
    ['is a deployment’s model', 'azure', { path: '/deployments/prod-4o/completions' }, 'gpt-4o'],
    ['is a deployment that has no model', 'open', { path: '/deployments/x/completions' }, 'x'],
    [
      'is a deployment that a config names',
      'plain',
      { model: 'cheap', config: { deployment_id: 'big' } },
      'big',
    ],
    [
      'is a publisher’s model under the name that is listed',
      'vertex',
      { path: '/projects/p/locations/l/publishers/anthropic/models/claude-x:rawPredict' },
      'anthropic.claude-x',
    ],
    [
      'is the path’s, whatever the body says',
      'bedrock',
      { path: '/model/y/converse', model: 'z' },
      'y',
    ],
  ])('%s', (_name, provider, asked, model) => {
    expect(resolve(provider, asked).servedModel).toBe(model);
  });

  it.each<[string, string, Asked, string, string]>([
    [
      'one that is not listed',
      'azure',
      { model: 'gpt-5' },
      'provider.model_not_allowed',
      'body.model',
    ],
    [
      'a path beside the body',
      'azure',
      { model: 'gpt-4o', path: '/deployments/prod-5/completions' },
      'provider.model_not_allowed',
      'path',
    ],
    [
      'a body beside the path',
      'azure',
      { model: 'gpt-5', path: '/deployments/prod-4o/completions' },
      'provider.model_not_allowed',
      'body.model',
    ],
    [
      'another publisher’s of the same name',
      'vertex',
      { path: '/publishers/anthropic/models/gemini-x:rawPredict' },
      'provider.model_not_allowed',
      'path',
    ],
    [
      'what is off, by its region',
      'bedrock',
      { path: '/model/us.anthropic.claude-x/converse' },
      'provider.model_not_allowed',
      'path',
    ],
    [
      'what is off, by its ARN',
      'bedrock',
      { model: 'arn:aws:bedrock:eu::foundation-model/anthropic.claude-x' },
      'provider.model_not_allowed',
      'body.model',
    ],
    [
      'an address of the caller’s',
      'openai',
      { model: 'gpt-4o', headers: { 'x-service-custom-host': 'https://host.example' } },
      'provider.model_unreadable',
      'x-service-custom-host',
    ],
    ['no model', 'openai', {}, 'provider.model_unreadable', 'body.model'],
    ['an unknown path', 'openai', { path: '/nobody/knows' }, 'provider.model_unreadable', 'path'],
  ])('is not %s', async (_name, provider, asked, code, field) => {
    expect(await refusal(() => resolve(provider, asked))).toMatchObject({ code, field });
  });
});
