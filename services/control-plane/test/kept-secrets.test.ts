import { credentialKeys } from '@sluice/contracts';
import {
  adminEndpoints,
  bearsAddress,
  isDeclaredAddressName,
  settingBearsAddress,
  virtualKeyProviderFields,
} from '@sluice/contracts/admin';
import { findProvider, providerIds } from '@sluice/providers';
import type { Test } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  alternatives,
  type JsonSchema,
  propertiesOf,
  requestSchema,
} from '../src/kernel/openapi/json-schema.ts';
import { readBundle } from './support/bundle.ts';
import { createServiceKey } from './support/fixture.ts';
import { type Caller, type Harness, startHarness } from './support/harness.ts';
import { type LocalServer, listenLocally } from './support/mcp-upstream.ts';

let h: Harness;
/** May change everything, and is shown no secret. */
let changer: Caller;
let admin: Caller;
/** A host of whoever tries. */
let stranger: LocalServer;

beforeAll(async () => {
  h = await startHarness();
  admin = h.as(h.first.admin_key);
  changer = h.as(await createServiceKey(h, h.first.workspace_id));
  stranger = await listenLocally((_req, res) => res.end('{}'));
});
afterAll(async () => {
  await Promise.all([h.stop(), stranger.close()]);
});

/** Their masks tell them apart. */
const secret = (name: string) => `${name}-secret-0001`;
const masked = (name: string) => `${name.slice(0, 2)}*******01`;

/** A resource with secrets, and how to send back what is shown of it with one thing changed. */
interface Attack {
  /** Of the operation that changes it. */
  readonly operation: keyof typeof adminEndpoints;
  /** Makes one; what it returns changes it. */
  readonly make: () => Promise<(body: object) => Test>;
  /** The body as somebody sends it back who was shown it: each secret is a mask, or not there. */
  readonly shown: object;
  /** Changes of it that give an address another value, by what they change. */
  readonly moves: Readonly<Record<string, object>>;
}

const elsewhere = () => stranger.url;

async function made(caller: Caller, path: string, body: object): Promise<string> {
  // Settings that no provider has are taken of lenient callers, and kept like others.
  const answer = await caller.post(path, body).set('x-service-lenient-input', 'true');
  expect(answer.status, answer.text).toBe(200);
  const { id, slug } = answer.body.data ?? answer.body;
  return `${path}/${slug ?? id}`;
}

const makes = (caller: () => Caller, path: string, body: () => object) => async () => {
  const one = await made(caller(), path, body());
  return (change: object) => caller().put(one, change).set('x-service-lenient-input', 'true');
};

/** Every setting of the catalogue that becomes part of an address, and one that nobody knows. */
const catalogueSettings = [
  ...new Set(providerIds().flatMap((id) => findProvider(id)?.settings ?? [])),
].map((name) => name.replaceAll('-', '_'));
const addressSettings = [
  ...catalogueSettings.filter(settingBearsAddress),
  'a_setting_of_tomorrow',
  'region',
];

const integration = {
  name: 'Kept',
  ai_provider_id: 'openai',
  key: secret('key'),
  configurations: {
    custom_host: 'https://models.example.org/v1',
    allowed_custom_hosts: ['https://eu.example.org/v1', 'https://us.example.org/v1'],
    aws_region: 'eu-central-1',
    openai_project: 'p-1',
    custom_headers: { 'x-team': secret('header') },
    oauth: { client_secret: secret('oauth'), token_endpoint: 'https://id.example.org/token' },
  },
};
const shownIntegration = {
  key: masked('key'),
  configurations: {
    ...integration.configurations,
    custom_headers: { 'x-team': masked('header') },
    oauth: { ...integration.configurations.oauth, client_secret: masked('oauth') },
  },
};
const allowedHosts = integration.configurations.allowed_custom_hosts;
const withSettings = (settings: object) => ({
  ...shownIntegration,
  configurations: { ...shownIntegration.configurations, ...settings },
});

const webhook = (parameters: object) => ({
  id: 'default.webhook',
  is_enabled: true,
  parameters: {
    webhookURL: 'https://checks.example.org/hook',
    headers: { 'x-team': secret('header') },
    ...parameters,
  },
});

const config = {
  api_key: secret('root'),
  custom_host: 'https://models.example.org/v1',
  provider: 'openai',
  aws_region: 'eu-central-1',
  strategy: { mode: 'fallback' },
  targets: [
    {
      name: 'one',
      provider: 'openai',
      api_key: secret('first'),
      override_params: {
        max_tokens: 5,
        tools: [{ server_url: 'https://tools.example.org', authorization: secret('tool') }],
      },
    },
    {
      strategy: { mode: 'fallback' },
      targets: [
        { provider: 'azure-openai', resource_name: 'ours', api_key: secret('nested') },
        {
          virtual_key: 'demo',
          custom_host: 'https://nested.example.org',
          api_key: secret('other'),
          before_request_hooks: [
            { id: 'h', credentials: { token: secret('hook') }, checks: [webhook({})] },
          ],
        },
      ],
    },
  ],
};

/** A copy of the config as it is shown, after a change of the copy. */
function shownConfig(change: (document: typeof config) => void = () => {}): { config: object } {
  const document = JSON.parse(
    JSON.stringify(config).replaceAll(/\b(\w+)-secret-0001/g, (_, name: string) => masked(name)),
  ) as typeof config;
  change(document);
  return { config: document };
}
type Nested = { targets: [{ provider: string; resource_name: string }, Record<string, unknown>] };
const nested = (document: typeof config) => document.targets[1] as unknown as Nested;

const registry = {
  name: 'Kept',
  url: 'https://mcp.example.org/mcp',
  auth_type: 'headers',
};
const mcpSettings = {
  custom_headers: { 'x-team': secret('header') },
  passthrough_header: { 'x-area': secret('area') },
  oauth_metadata: {
    issuer: 'https://id.example.org',
    token_endpoint: 'https://id.example.org/token',
    client_id: 'sluice',
    client_secret: secret('client'),
  },
  jwt_validation: { jwksUri: 'https://id.example.org/jwks' },
  external_auth_config: { issuer: 'https://id.example.org' },
};
const shownMcp = {
  custom_headers: { 'x-team': masked('header') },
  passthrough_header: { 'x-area': masked('area') },
  oauth_metadata: { ...mcpSettings.oauth_metadata, client_secret: masked('client') },
};

const modelHeaders = { 'x-model': secret('model') };

const attacks: readonly Attack[] = [
  {
    operation: 'integrations.update',
    make: makes(
      () => changer,
      '/integrations',
      () => integration,
    ),
    shown: shownIntegration,
    get moves() {
      return {
        ...Object.fromEntries(
          addressSettings.map((name) => [name, withSettings({ [name]: 'elsewhere' })]),
        ),
        custom_host: withSettings({ custom_host: elsewhere() }),
        'custom_host alone': { configurations: { custom_host: elsewhere() } },
        'custom_host, to be set later': { configurations: { custom_host: null } },
        'the scheme': withSettings({ custom_host: 'http://models.example.org/v1' }),
        'the port': withSettings({ custom_host: 'https://models.example.org:8443/v1' }),
        'the path': withSettings({ custom_host: 'https://models.example.org/v2' }),
        'an address within': withSettings({
          oauth: { client_secret: masked('oauth'), token_endpoint: elsewhere() },
        }),
        'a host more that requests may name': withSettings({
          allowed_custom_hosts: [...allowedHosts, elsewhere()],
        }),
        'another host that requests may name': withSettings({
          allowed_custom_hosts: [elsewhere()],
        }),
        'a wider path that requests may name': withSettings({
          allowed_custom_hosts: ['https://eu.example.org', 'https://us.example.org/v1'],
        }),
        'hosts that requests may name, alone': {
          configurations: { allowed_custom_hosts: [...allowedHosts, elsewhere()] },
        },
        'all settings away': { configurations: null },
      };
    },
  },
  {
    operation: 'integrations.models.update',
    make: async () => {
      const one = await made(changer, '/integrations', integration);
      const own = { custom_host: 'https://one.example.org', custom_headers: modelHeaders };
      const model = { slug: 'm', enabled: true, configurations: own };
      const { key, configurations } = integration;
      await changer.put(`${one}/models`, { models: [model], key, configurations }).expect(200);
      return (body) => changer.put(`${one}/models`, body);
    },
    shown: {
      models: [
        {
          slug: 'm',
          enabled: true,
          configurations: {
            custom_host: 'https://one.example.org',
            custom_headers: { 'x-model': masked('model') },
          },
        },
      ],
    },
    get moves() {
      const models = (...configurations: object[]) => ({
        models: configurations.map((each, index) => ({
          slug: 'mno'[index],
          enabled: true,
          configurations: each,
        })),
      });
      return {
        custom_host: models({
          custom_host: elsewhere(),
          custom_headers: { 'x-model': masked('model') },
        }),
        'custom_host alone': models({ custom_host: elsewhere() }),
        'custom_host, with the header known': models({
          custom_host: elsewhere(),
          custom_headers: modelHeaders,
        }),
        'custom_host away': models({ custom_host: null }),
        'another model’s': models({}, { custom_host: elsewhere() }),
        'one of many': models({}, {}, { custom_host: elsewhere() }),
        'with a wrong key': { ...models({ custom_host: elsewhere() }), key: masked('key') },
      };
    },
  },
  {
    operation: 'virtual-keys.update',
    make: makes(
      () => changer,
      '/virtual-keys',
      () => ({
        name: 'Kept',
        provider: 'openai',
        key: secret('key'),
        customHost: 'https://models.example.org/v1',
        customHeaders: { 'x-team': secret('header') },
        azureEntraClientSecret: secret('entra'),
      }),
    ),
    shown: {
      key: masked('key'),
      customHeaders: { 'x-team': masked('header') },
      azureEntraClientSecret: masked('entra'),
    },
    get moves() {
      return {
        customHost: { key: masked('key'), customHost: elsewhere() },
        'customHost alone': { customHost: elsewhere() },
        'customHost away': { customHost: null },
        resourceName: { resourceName: 'elsewhere' },
        azureEntraTenantId: { azureEntraTenantId: 'elsewhere' },
        awsRegion: { awsRegion: 'us-east-1' },
        vertexRegion: { vertexRegion: 'us-east-1' },
        workersAiAccountId: { workersAiAccountId: 'elsewhere' },
        huggingfaceBaseUrl: { huggingfaceBaseUrl: 'https://stranger.hf.space' },
        snowflakeAccount: { snowflakeAccount: 'elsewhere' },
      };
    },
  },
  {
    operation: 'mcp-integrations.update',
    make: makes(
      () => changer,
      '/mcp-integrations',
      () => ({
        ...registry,
        transport: 'http',
        configurations: mcpSettings,
      }),
    ),
    shown: { url: registry.url, configurations: shownMcp },
    get moves() {
      const metadata = (change: object) => ({
        configurations: { ...shownMcp, oauth_metadata: { ...shownMcp.oauth_metadata, ...change } },
      });
      return {
        url: { url: elsewhere(), configurations: shownMcp },
        'url alone': { url: elsewhere() },
        issuer: metadata({ issuer: elsewhere() }),
        token_endpoint: metadata({ token_endpoint: elsewhere() }),
        authorization_endpoint: metadata({ authorization_endpoint: elsewhere() }),
        registration_endpoint: metadata({ registration_endpoint: elsewhere() }),
        revocation_endpoint: metadata({ revocation_endpoint: elsewhere() }),
        jwksUri: { configurations: { jwt_validation: { jwksUri: elsewhere() } } },
        introspectEndpoint: {
          configurations: { jwt_validation: { introspectEndpoint: elsewhere() } },
        },
        'a sign-in of others': {
          configurations: { external_auth_config: { issuer: 'https://stranger.example.org' } },
        },
        'a setting that nobody knows': { configurations: { tomorrow: 'stranger.example.org' } },
      };
    },
  },
  {
    operation: 'agent-integrations.update',
    make: makes(
      () => changer,
      '/agent-integrations',
      () => ({
        ...registry,
        configurations: { custom_headers: mcpSettings.custom_headers },
      }),
    ),
    shown: {
      url: registry.url,
      configurations: { custom_headers: { 'x-team': masked('header') } },
    },
    get moves() {
      return {
        url: {
          url: elsewhere(),
          configurations: { custom_headers: { 'x-team': masked('header') } },
        },
        'url alone': { url: elsewhere() },
        'a setting that nobody knows': { configurations: { tomorrow: 'stranger.example.org' } },
      };
    },
  },
  {
    operation: 'configs.update',
    make: makes(
      () => changer,
      '/configs',
      () => ({ name: 'Kept', config }),
    ),
    shown: shownConfig(),
    get moves() {
      const move = (change: (document: typeof config) => void) => shownConfig(change);
      return {
        'custom_host of the root': move((all) => Object.assign(all, { custom_host: elsewhere() })),
        'custom_host in its other spelling': move((all) =>
          Object.assign(all, { custom_host: undefined, customHost: elsewhere() }),
        ),
        'custom_host away': move((all) => Object.assign(all, { custom_host: undefined })),
        'provider of the root': move((all) => Object.assign(all, { provider: 'anthropic' })),
        'region of the root': move((all) => Object.assign(all, { aws_region: 'us-east-1' })),
        'custom_host of a target': move((all) =>
          Object.assign(all.targets[0] ?? {}, { custom_host: elsewhere() }),
        ),
        'custom_host above nested targets': move((all) =>
          Object.assign(nested(all), { custom_host: elsewhere() }),
        ),
        'custom_host of a nested target': move((all) =>
          Object.assign(nested(all).targets[1], { custom_host: elsewhere() }),
        ),
        'resource_name of a nested target': move((all) =>
          Object.assign(nested(all).targets[0], { resource_name: 'elsewhere' }),
        ),
        'virtual_key of a nested target': move((all) =>
          Object.assign(nested(all).targets[1], { virtual_key: 'elsewhere' }),
        ),
        'a provider by the model': move((all) =>
          Object.assign(all.targets[0]?.override_params ?? {}, { model: '@elsewhere/gpt-4o' }),
        ),
        'server_url of a tool': move((all) =>
          Object.assign(all.targets[0]?.override_params?.tools[0] ?? {}, {
            server_url: elsewhere(),
          }),
        ),
        'webhookURL of a check': move((all) => {
          const [hook] = nested(all).targets[1].before_request_hooks as { checks: object[] }[];
          if (hook !== undefined) hook.checks = [webhook({ webhookURL: elsewhere() })];
          // The header is a mask, as it was shown.
          const [check] = (hook?.checks ?? []) as { parameters: { headers: object } }[];
          if (check !== undefined) check.parameters.headers = { 'x-team': masked('header') };
        }),
        'hosts of two targets, changed for each other': move((all) => {
          const [first, second] = nested(all).targets;
          Object.assign(first, { custom_host: second.custom_host });
          delete second.custom_host;
        }),
        'a target moved, with another host': move((all) => {
          Object.assign(all.targets[0] ?? {}, { custom_host: elsewhere() });
          all.targets.reverse();
        }),
      };
    },
  },
  {
    operation: 'guardrails.update',
    make: async () => {
      const created = await changer
        .post('/guardrails', { name: 'Kept', checks: [webhook({})], actions: {} })
        .expect(200);
      return (body) => changer.put(`/guardrails/${created.body.slug}`, body);
    },
    shown: { checks: [webhook({ headers: { 'x-team': masked('header') } })] },
    get moves() {
      const headers = { 'x-team': masked('header') };
      return {
        webhookURL: { checks: [webhook({ headers, webhookURL: elsewhere() })] },
        'an address that nobody knows': { checks: [webhook({ headers, tomorrow: elsewhere() })] },
        'a second check': {
          checks: [webhook({ headers }), webhook({ headers, webhookURL: elsewhere() })],
        },
      };
    },
  },
  {
    operation: 'secret-references.update',
    make: makes(
      () => admin,
      '/secret-references',
      () => ({
        name: 'Kept',
        manager_type: 'hashicorp_vault',
        auth_config: {
          vault_auth_type: 'token',
          vault_token: secret('vault'),
          vault_addr: 'https://vault.example.org',
        },
        secret_path: 'secret/data/a',
      }),
    ),
    shown: { auth_config: { vault_token: masked('vault') } },
    get moves() {
      return {
        vault_addr: { auth_config: { vault_token: masked('vault'), vault_addr: elsewhere() } },
        'vault_addr alone': { auth_config: { vault_addr: elsewhere() } },
      };
    },
  },
  {
    operation: 'secret-references.update',
    make: makes(
      () => admin,
      '/secret-references',
      () => ({
        name: 'Kept',
        manager_type: 'azure_kv',
        auth_config: {
          azure_auth_mode: 'entra',
          azure_entra_tenant_id: 'ours',
          azure_entra_client_id: 'client',
          azure_entra_client_secret: secret('entra'),
          azure_vault_url: 'https://ours.vault.azure.net',
        },
        secret_path: 'a',
      }),
    ),
    shown: { auth_config: { azure_entra_client_secret: masked('entra') } },
    get moves() {
      return {
        azure_vault_url: { auth_config: { azure_vault_url: elsewhere() } },
        azure_entra_tenant_id: { auth_config: { azure_entra_tenant_id: 'elsewhere' } },
      };
    },
  },
  {
    operation: 'organisation.auth-settings.update',
    make: async () => {
      const jwt = {
        introspection: {
          url: 'https://id.example.org/introspect',
          client_secret: secret('client'),
        },
      };
      await admin.put('/admin/organisation/auth-settings', { jwt }).expect(200);
      return (body) => admin.put('/admin/organisation/auth-settings', body);
    },
    shown: {
      jwt: {
        introspection: {
          url: 'https://id.example.org/introspect',
          client_secret: masked('client'),
        },
      },
    },
    get moves() {
      const at = (url: string) => ({
        jwt: { introspection: { url, client_secret: masked('client') } },
      });
      return {
        url: at(elsewhere()),
        'the path': at('https://id.example.org/other'),
      };
    },
  },
  {
    operation: 'organisation.alert-settings.update',
    make: async () => {
      const webhook = { url: 'https://alerts.example.org/hook', secret: secret('webhook') };
      await admin.put('/admin/organisation/alert-settings', { webhook }).expect(200);
      return (body) => admin.put('/admin/organisation/alert-settings', body);
    },
    shown: { webhook: { url: 'https://alerts.example.org/hook', secret: masked('webhook') } },
    get moves() {
      const at = (url: string) => ({ webhook: { url, secret: masked('webhook') } });
      return { url: at(elsewhere()), 'the path': at('https://alerts.example.org/other') };
    },
  },
];

describe('what is shown and sent back keeps its secrets, and with another address loses the right to', () => {
  it.each(attacks)('$operation', async ({ make, shown, moves }) => {
    const change = await make();
    const same = await change(shown);
    expect(same.status, same.text).toBe(200);
    for (const [what, body] of Object.entries(moves)) {
      const answer = await change(body);
      expect([what, answer.status, answer.body.data?.code], answer.text).toEqual([
        what,
        400,
        'admin.secret_required',
      ]);
      expect(answer.text, what).toMatch(/must be sent again, because \S+ changes/);
      expect(answer.text, what).not.toContain('secret-0001');
    }
    expect((await change(shown)).status).toBe(200);
    expect(stranger.seen).toEqual([]);
  });

  it('is tried of every operation that takes an address for something that is there', () => {
    const tried = new Set<string>(attacks.map(({ operation }) => operation));
    const taking = Object.entries(adminEndpoints)
      .filter(([, { method, path }]) => method === 'put' || path.includes('{'))
      .filter(([, { body }]) => body !== undefined && addressNames(requestSchema(body)).length > 0)
      .map(([id]) => id);
    expect(taking.filter((id) => !tried.has(id) && keepsNoSecret[id] === undefined)).toEqual([]);
    expect(Object.keys(keepsNoSecret).filter((id) => !taking.includes(id))).toEqual([]);
  });

  it('knows of each setting of each provider whether it is part of an address', () => {
    const names = [
      ...catalogueSettings,
      ...credentialKeys,
      ...virtualKeyProviderFields.filter((name) => !/^(apiVersion|deployment)/.test(name)),
    ];
    expect(names.filter((name) => !/key$/i.test(name) && !isDeclaredAddressName(name))).toEqual([]);
  });
});

/** Operations that take what sounds like an address, of what holds no secret. */
const keepsNoSecret: Readonly<Record<string, string>> = {
  'prompts.update': 'names a provider; a prompt holds no secret',
  'prompts.fork': 'the same',
};

/** Names of texts that say where something is, at any depth. */
function addressNames(schema: JsonSchema): string[] {
  return alternatives(schema).flatMap((form) => [
    ...Object.entries(propertiesOf(form)).flatMap(([name, inner]) => [
      ...(bearsAddress(name) && alternatives(inner).some(({ type }) => type === 'string')
        ? [name]
        : []),
      ...addressNames(inner),
    ]),
    ...(form.items === undefined ? [] : addressNames(form.items)),
  ]);
}

it('gives the secrets to an address that comes with them', async () => {
  const one = await made(changer, '/integrations', integration);
  const { key, configurations } = integration;
  const custom_host = 'https://elsewhere.example.org';
  const moved = await changer.put(one, { key, configurations: { ...configurations, custom_host } });
  expect(moved.status, moved.text).toBe(200);
  const { bundle } = await readBundle(h, h.first.workspace_id);
  expect(bundle?.providers.find(({ slug }) => one.endsWith(`/${slug}`))).toMatchObject({
    apiKey: key,
    customHost: custom_host,
  });
});

it('lets hosts that requests may name be taken away without the secrets, and put in order', async () => {
  const one = await made(changer, '/integrations', integration);
  const allow = (hosts: readonly string[] | null) =>
    changer.put(one, { configurations: { allowed_custom_hosts: hosts } });
  const [eu = '', us = ''] = allowedHosts;
  await allow([us, eu, 'HTTPS://eu.example.org:443/v1/']).expect(200);
  await allow([us]).expect(200);
  // What was taken away is new again.
  expect((await allow([us, eu])).body.data).toMatchObject({ code: 'admin.secret_required' });
  // A host less does not make up for another that is new.
  await allow([eu]).expect(400);
  await allow(null).expect(200);
  await allow([us]).expect(400);
  const { key, configurations } = integration;
  await changer.put(one, { key, configurations }).expect(200);
});

it('asks for a model’s headers when the integration whose address they go to moves', async () => {
  const one = await made(changer, '/integrations', { name: 'Kept', ai_provider_id: 'openai' });
  const model = { slug: 'm', enabled: true, configurations: { custom_headers: modelHeaders } };
  await changer.put(`${one}/models`, { models: [model] }).expect(200);
  const moved = { configurations: { custom_host: elsewhere() } };
  const answer = await changer.put(one, moved).expect(400);
  expect(answer.body.data).toMatchObject({
    code: 'admin.secret_required',
    field: 'models.m.configurations.custom_headers.x-model',
  });
  const without = { ...model, configurations: { custom_headers: null } };
  await changer.put(`${one}/models`, { models: [without] }).expect(200);
  await changer.put(one, moved).expect(200);
});

it('counts an address that comes from a secret manager', async () => {
  const { body: reference } = await admin.post('/secret-references', {
    name: 'An address',
    manager_type: 'aws_sm',
    auth_config: { aws_auth_type: 'serviceRole' },
    secret_path: 'a',
  });
  const mapping = (target_field: string) => ({
    secret_mappings: [{ target_field, secret_reference_id: reference.id }],
  });
  const { key, configurations } = integration;
  const one = await made(changer, '/integrations', { ...integration, slug: undefined });
  const mapped = mapping('configurations.custom_host');
  const refused = await changer.put(one, mapped).expect(400);
  expect(refused.body.data.errors[0]).toBe(
    'body.key: must be sent again, because body.secret_mappings changes',
  );
  await changer.put(one, mapping('configurations.openai_project')).expect(200);
  await changer.put(one, { ...mapped, key, configurations }).expect(200);
  const mcp = { ...registry, transport: 'http', configurations: mcpSettings };
  const other = await made(changer, '/mcp-integrations', mcp);
  await changer.put(other, mapping('configurations.oauth_metadata.token_endpoint')).expect(400);
});

it.each([
  ['/integrations', { ai_provider_id: 'openai', key: masked('key') }, 'body.key'],
  [
    '/integrations',
    {
      ai_provider_id: 'openai',
      configurations: { custom_headers: { 'x-team': masked('header') } },
    },
    'body.configurations.custom_headers.x-team',
  ],
  [
    '/integrations',
    { ai_provider_id: 'openai', configurations: { aws_secret_access_key: masked('key') } },
    'body.configurations.aws_secret_access_key',
  ],
  ['/virtual-keys', { provider: 'openai', key: masked('key') }, 'body.key'],
  [
    '/virtual-keys',
    { provider: 'openai', customHeaders: { 'x-team': masked('header') } },
    'body.customHeaders.x-team',
  ],
  [
    '/guardrails',
    { checks: [webhook({ headers: { 'x-team': masked('header') } })], actions: {} },
    'body.checks[0].parameters.headers.x-team',
  ],
])('makes nothing of a mask: POST %s %o', async (path, body, field) => {
  const answer = await changer.post(path, { name: 'Copied', ...body });
  expect(answer.status, answer.text).toBe(400);
  expect(answer.text).toContain(`${field}: is masked: send its value`);
});

it('takes no mask for the secret of another field', async () => {
  const one = await made(changer, '/integrations', integration);
  for (const configurations of [
    { custom_headers: { 'x-other': masked('header') } },
    { custom_headers: { 'x-team': masked('key') } },
    { openai_api_secret: masked('key') },
  ])
    expect((await changer.put(one, { configurations })).body.data.code).toBe('admin.validation');
});

it('forgets who signed in at an MCP server that is elsewhere now', async () => {
  const mcp = { ...registry, auth_type: 'oauth_auto', transport: 'http' };
  const one = await made(changer, '/mcp-integrations', mcp);
  const integrationId = one.split('/').at(-1) ?? '';
  const row = await h.db.mcpIntegration.findFirstOrThrow({ where: { slug: integrationId } });
  const server = await changer
    .post('/mcp-servers', { name: 'Kept', mcp_integration_id: row.id })
    .expect(200);
  const user = await h.db.user.findFirstOrThrow({
    where: { organisationId: h.first.organisation_id },
  });
  await h.db.mcpConnection.create({
    data: { serverId: server.body.id, userId: user.id, sealedTokens: new Uint8Array([1]) },
  });
  await changer.put(one, { name: 'As before' }).expect(200);
  expect(await h.db.mcpConnection.count()).toBe(1);
  await changer.put(one, { url: elsewhere() }).expect(200);
  expect(await h.db.mcpConnection.count()).toBe(0);
});
