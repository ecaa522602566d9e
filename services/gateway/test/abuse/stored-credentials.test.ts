import { generateKeyPairSync } from 'node:crypto';
import type { Endpoint } from '@sluice/contracts';
import { configCaps } from '@sluice/contracts';
import { directConfig, type ResolvedTarget } from '@sluice/engine';
import { defineSettings } from '@sluice/env';
import { fromUnknown, GatewayError } from '@sluice/errors';
import { makeHostRules } from '@sluice/outbound';
import {
  findProvider,
  type ProviderEntry,
  providerIds,
  type SettingName,
  settingKind,
} from '@sluice/providers';
import type { Dispatcher } from 'undici';
import { beforeAll, describe, expect, it } from 'vitest';
import { launch } from '../../src/calls/attempt.ts';
import { ReadOn } from '../../src/calls/read-on.ts';
import { cloudSettings } from '../../src/cloud-settings.ts';
import { ConfigCompiler } from '../../src/compiled/config-compiler.ts';
import { Visit } from '../../src/exchange/exchange.ts';
import { resolveConfig } from '../../src/pipeline/stages/resolve-config.ts';
import { createAuthoriser } from '../../src/upstream-auth/authoriser.ts';
import { prepareCall } from '../../src/visit/prepare-call.ts';
import { resolveTarget } from '../../src/visit/targets/resolve-target.ts';
import { exampleBundle, exampleExchange, exampleKey, noneNewer } from '../exchange.ts';

/**
 * Every provider, every setting that a request may carry, every way to carry it,
 * beside a credential that an admin saved. A recorder stands where connections
 * are opened: it sees all that is sent, to providers and to who gives tokens.
 *
 * What an admin saved bears STORED, what is issued for it MINTED, and what the
 * caller adds CALLERS. Neither STORED nor MINTED may be seen at an address that
 * the caller made, nor together with CALLERS anywhere.
 */
const modes = ['default', 'saved-only'] as const;
type Mode = (typeof modes)[number];

const strangers = 'https://callers.example';
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const serviceAccount = JSON.stringify({
  client_email: 'STORED@project.iam.gserviceaccount.com',
  private_key: privateKey,
  project_id: 'p-STORED',
});

/** What an admin may have saved for a provider, by the way in which it authorises. */
function credentialsOf(entry: ProviderEntry): { name: string; key: string; settings: object }[] {
  const plain = { name: 'key', key: 'sk-STORED', settings: {} };
  switch (entry.auth.type) {
    case 'aws':
      return [
        {
          name: 'access key',
          key: '',
          settings: { aws_access_key_id: 'AKIDSTORED', aws_secret_access_key: 'secret-STORED' },
        },
        {
          name: 'role',
          key: '',
          settings: {
            aws_auth_type: 'assumedRole',
            aws_role_arn: 'arn:aws:iam::123456789012:role/STORED',
          },
        },
        { name: 'machine', key: '', settings: { aws_auth_type: 'serviceRole' } },
        ...(entry.auth.service === 'sagemaker'
          ? []
          : [{ ...plain, settings: { aws_auth_type: 'apiKey' } }]),
      ];
    case 'google':
      return [
        {
          name: 'service account',
          key: '',
          settings: { vertex_service_account_json: serviceAccount },
        },
        plain,
      ];
    case 'azure':
      return [
        plain,
        {
          name: 'entra',
          key: '',
          settings: {
            azure_auth_mode: 'entra',
            azure_entra_tenant_id: 'tenant-STORED',
            azure_entra_client_id: 'client-STORED',
            azure_entra_client_secret: 'secret-STORED',
          },
        },
      ];
    case 'oci':
      return [
        {
          name: 'private key',
          key: '',
          settings: {
            oracle_tenancy: 'ocid1.tenancy.STORED',
            oracle_user: 'ocid1.user.STORED',
            oracle_fingerprint: 'STORED',
            oracle_private_key: privateKey,
          },
        },
      ];
    default:
      return [plain];
  }
}

/** What else an admin has to say before the provider can be called at all. */
const addresses: Readonly<Record<string, string>> = {
  'azure-resource-name': 'admins-resource',
  'azure-foundry-url': 'https://admins.services.ai.azure.com/models',
  'databricks-workspace': 'dbc-admins',
  'oracle-region': 'us-chicago-1',
  'oracle-compartment-id': 'ocid1.compartment.admins',
  'predibase-tenant-id': 'admins',
  'snowflake-account': 'admins',
  'vertex-project-id': 'admins',
  'workers-ai-account-id': 'admins',
  'anthropic-aws-workspace-id': 'admins',
  'anthropic-google-workspace-id': 'admins',
};

/** A value that the provider takes, and that is known again wherever it is sent. */
function callersValue(name: SettingName): string {
  switch (name) {
    case 'azure-foundry-url':
      return `${strangers}/CALLERS`;
    case 'huggingface-base-url':
      return `${strangers}/CALLERS`;
    case 'databricks-workspace':
      return 'adb-666.6.azuredatabricks.net';
    case 'aws-role-arn':
      return 'arn:aws:iam::666666666666:role/CALLERS';
    case 'aws-auth-type':
      return 'serviceRole';
    case 'azure-auth-mode':
      return 'managed';
    case 'vertex-auth-type':
      return 'workload';
    case 'aws-region':
      return 'CALLERS-1'.toLowerCase();
    default:
      return 'CALLERS';
  }
}

interface Seen {
  origin: string;
  text: string;
  showsCertificate: boolean;
}

/** Stands in place of connect: nothing leaves, and what would have is written down. */
class Recorder {
  readonly seen: Seen[] = [];

  readonly pools = {
    pool: (origin: string, use?: { tls?: object }) => ({
      dispatch: (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) =>
        this.#answer(origin, use?.tls !== undefined, options, handler),
    }),
    placeOf: () => undefined,
    size: 0,
    close: async () => undefined,
  };

  #answer(
    origin: string,
    showsCertificate: boolean,
    { path, method, headers, body }: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const text = readable(`${method} ${path}\n${JSON.stringify(headers)}\n${String(body ?? '')}`);
    this.seen.push({ origin, text, showsCertificate });
    const reply = Buffer.from(issued(origin, isStored(text)));
    const controller = { abort() {}, pause() {}, resume() {} } as never;
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, 200, { 'content-type': 'application/json' });
    handler.onResponseData?.(controller, reply);
    handler.onResponseEnd?.(controller, {});
    return true;
  }
}

const secrets = /STORED|MINTED|AKIDMACHINE/;
const isStored = (text: string) => secrets.test(text);

/** With all that is base64 in it read, too: signed statements, and pairs of name and key. */
function readable(text: string): string {
  const plain = text.replace(/%[0-7][0-9a-f]/gi, (escaped) =>
    String.fromCharCode(Number.parseInt(escaped.slice(1), 16)),
  );
  const hidden = [...plain.matchAll(/[\w+/-]{16,}={0,2}/g)].map(([piece]) =>
    Buffer.from(piece, 'base64').toString('latin1'),
  );
  return `${plain}\n${hidden.join('\n')}`;
}

/** What token endpoints answer; any other reader finds no answer in it. */
function issued(origin: string, isForStored: boolean): string {
  const name = isForStored ? 'MINTED' : 'token';
  if (origin.includes('sts.'))
    return `<C><AccessKeyId>AKID${name}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>${name}</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></C>`;
  return JSON.stringify({ access_token: name, expires_in: 3600 });
}

interface Attack {
  /** Of the name of the case. */
  way: string;
  headers?: Record<string, string>;
  inline?: object;
  /** The credential stands in a saved config in place of a saved provider. */
  isInConfig?: boolean;
  isProxy?: boolean;
  body?: object;
}

interface Setup {
  entry: ProviderEntry;
  key: string;
  settings: object;
  customHost?: string;
  allowedHosts?: string[];
  opensAllHosts?: boolean;
}

const hostRules = makeHostRules({ trusted: ['127.0.0.1', 'localhost'], production: true });
const configs = new ConfigCompiler({ caps: configCaps, knownChecks: new Set() } as never);

/** Runs one request as the stages do, as far as the connections. */
async function run(setup: Setup, attack: Attack, mode: Mode) {
  const recorder = new Recorder();
  const { entry } = setup;
  const settings = { ...setup.settings, tls_cert: 'certificate-STORED', tls_key: 'key-STORED' };
  const document = { provider: entry.id, api_key: setup.key, ...pick(setup.settings) };
  const bundle = exampleBundle(
    {
      blockInlineConfig: mode === 'saved-only',
      storedCredentialsAtCallersHosts: setup.opensAllHosts === true,
      providers: [
        {
          slug: 'stored',
          provider: entry.id,
          status: 'active',
          apiKey: setup.key,
          configurationsJson: JSON.stringify(settings),
          customHost: setup.customHost ?? '',
          customHeaders: { 'x-admins': 'header-STORED' },
          allowedCustomHosts: setup.allowedHosts ?? [],
          allowAllModels: true,
          models: [],
          rateLimits: [],
        },
      ],
    } as never,
    [
      {
        id: 'c',
        slug: 'pc-stored',
        versionId: `v-${JSON.stringify(document)}`,
        name: 'c',
        bodyJson: JSON.stringify(document),
      },
    ],
  );
  const offered = Object.keys(entry.endpoints).filter((name) => name !== 'proxy') as Endpoint[];
  const endpoint = offered.includes('chatComplete') ? 'chatComplete' : (offered[0] ?? 'proxy');
  const isProxy = attack.isProxy === true || endpoint === 'proxy';
  const exchange = exampleExchange({
    bundle,
    key: exampleKey(),
    isProxy,
    endpoint: isProxy ? 'proxy' : endpoint,
    pathname: isProxy ? '/v1/proxy/x' : '/v1/x',
    headers: {
      'content-type': 'application/json',
      ...(attack.inline === undefined
        ? attack.isInConfig === true
          ? { 'x-service-config': 'pc-stored' }
          : { 'x-service-provider': '@stored' }
        : { 'x-service-config': JSON.stringify(attack.inline) }),
      ...attack.headers,
    },
  });
  exchange.subject.json = {
    model: 'a-model',
    messages: [{ role: 'user', content: 'x' }],
    input: 'x',
    prompt: 'x',
    ...attack.body,
  } as never;
  exchange.subject.body = Buffer.from(JSON.stringify(exchange.subject.json));
  exchange.subject.model = 'a-model';
  const cloud = defineSettings({ Clouds: cloudSettings }).readEnv({
    AWS_ACCESS_KEY_ID: 'AKIDMACHINE',
    AWS_SECRET_ACCESS_KEY: 'machine-STORED',
    GCP_AUTH_MODE: '',
    AWS_REGION: 'eu-central-1',
  });
  try {
    await resolveConfig({
      blockInlineConfig: false,
      strictParams: false,
      configs,
      newer: noneNewer,
    })(exchange, async () => ({}) as never);
    const [planned] = (exchange.config?.compiled ?? directConfig).targets;
    const target = resolveTarget(exchange, planned as ResolvedTarget);
    const visit = new Visit(exchange, planned as ResolvedTarget);
    const call = prepareCall(visit, target, undefined, { hostRules });
    const pools = recorder.pools as never;
    const result = await launch(call, 0, {
      pools,
      authoriser: createAuthoriser({ pools, hostRules, cloud }),
      readOn: new ReadOn({ countMax: 0, timeoutMs: 1 }),
      listeners: [],
      options: {
        requestTimeoutMs: 1_000,
        firstByteTimeoutMs: 1_000,
        streamIdleTimeoutMs: 1_000,
        replyBytesMax: 1_000_000,
      },
    }).result;
    return { seen: recorder.seen, code: result.error?.code ?? '', field: result.error?.field };
  } catch (error) {
    const { code, field } = fromUnknown(error);
    if (!(error instanceof GatewayError)) throw error;
    return { seen: recorder.seen, code, field };
  }
}

/** Of settings what a config may hold; the rest has no place there. */
function pick(settings: object): Record<string, unknown> {
  const fields = [
    'aws_access_key_id',
    'aws_secret_access_key',
    'aws_region',
    'vertex_service_account_json',
  ];
  return Object.fromEntries(Object.entries(settings).filter(([name]) => fields.includes(name)));
}

const bareName = (name: string) => name.replaceAll('-', '_');

/** The admin said all that is needed, or nothing beyond the credential: then the caller may try to fill the gap. */
function setupsOf(entry: ProviderEntry): { name: string; setup: Setup }[] {
  const needed = Object.fromEntries(
    Object.entries(addresses)
      .filter(([name]) => entry.settings?.includes(name as SettingName))
      .map(([name, value]) => [bareName(name), value]),
  );
  const customHost = entry.baseUrl === '' ? { customHost: 'https://admins.example/v1' } : {};
  return credentialsOf(entry).flatMap(({ name, key, settings }) => [
    { name, setup: { entry, key, settings: { ...needed, ...settings }, ...customHost } },
    ...(Object.keys(needed).length > 0
      ? [{ name: `${name} alone`, setup: { entry, key, settings } }]
      : []),
  ]);
}

const ofConfigs = new Set([
  'aws-access-key-id',
  'aws-secret-access-key',
  'aws-session-token',
  'aws-region',
  'vertex-project-id',
  'vertex-region',
  'vertex-service-account-json',
  'azure-deployment-name',
  'azure-endpoint-name',
  'azure-api-version',
  'azure-model-name',
  'azure-auth-mode',
  'azure-entra-scope',
  'openai-organization',
  'openai-project',
]);

function attacksOn(entry: ProviderEntry): Attack[] {
  const attacks: Attack[] = [];
  const host = `${strangers}/v1`;
  for (const isProxy of [false, true]) {
    const at = isProxy ? 'pass-through, ' : '';
    for (const isInConfig of [false, true])
      attacks.push({
        way: `${at}x-service-custom-host${isInConfig ? ' with a saved config' : ''}`,
        headers: { 'x-service-custom-host': host },
        isInConfig,
        isProxy,
      });
    attacks.push(
      {
        way: `${at}custom_host of an inline config`,
        inline: { provider: '@stored', custom_host: host },
        isProxy,
      },
      {
        way: `${at}custom_host of an inline config around a saved one`,
        inline: { custom_host: host, targets: [{ config: 'pc-stored' }] },
        isProxy,
      },
      {
        way: `${at}api_key of an inline config`,
        inline: { provider: '@stored', api_key: 'sk-CALLERS' },
        isProxy,
      },
      {
        way: `${at}x-service-forward-headers: authorization`,
        headers: {
          'x-service-forward-headers': 'authorization, x-admins',
          authorization: 'Bearer CALLERS',
          'x-admins': 'CALLERS',
        },
        isProxy,
      },
    );
    for (const name of new Set([...(entry.settings ?? []), ...(entry.callerHeaders ?? [])])) {
      const value = callersValue(name);
      for (const isInConfig of [false, true])
        attacks.push({
          way: `${at}x-service-${name}${isInConfig ? ' with a saved config' : ''}`,
          headers: { [`x-service-${name}`]: value },
          isInConfig,
          isProxy,
        });
      attacks.push({ way: `${at}${name}, bare`, headers: { [name]: value }, isProxy });
      attacks.push({
        way: `${at}${name}, bare and forwarded`,
        headers: { [name]: value, 'x-service-forward-headers': name },
        isProxy,
      });
      if (ofConfigs.has(name))
        attacks.push({
          way: `${at}${bareName(name)} of an inline config`,
          inline: { provider: '@stored', [bareName(name)]: value },
          isProxy,
        });
    }
    for (const [header, name] of Object.entries(entry.settingHeaders ?? {}))
      if (settingKind(name) !== 'option')
        attacks.push({ way: `${at}${header}, bare`, headers: { [header]: 'CALLERS' }, isProxy });
    for (const header of entry.accountHeaders ?? [])
      attacks.push({ way: `${at}${header}, bare`, headers: { [header]: 'CALLERS' }, isProxy });
    for (const key of ['resource_name', 'deployment_id', 'azure_region'])
      attacks.push({
        way: `${at}${key} of an inline config`,
        inline: { provider: '@stored', [key]: 'CALLERS' },
        isProxy,
      });
  }
  attacks.push({ way: 'user of the body', body: { user: 'CALLERS' } });
  return attacks;
}

/** Where tokens are given, whoever asks. */
const tokenOrigins =
  /^https:\/\/(?:oauth2\.googleapis\.com|login\.microsoftonline\.com|sts\.[a-z0-9-]+\.amazonaws\.com)$/;

interface Case {
  name: string;
  mode: Mode;
  code: string;
  leaks: string[];
}

describe('a stored credential', () => {
  const cases: Case[] = [];
  /** Provider and credential → origins at which its own requests were seen. */
  const homes = new Map<string, Set<string>>();

  beforeAll(async () => {
    for (const id of providerIds()) {
      const entry = findProvider(id) as ProviderEntry;
      for (const { name, setup } of setupsOf(entry)) {
        const home = new Set<string>();
        for (const isProxy of [false, true])
          for (const isInConfig of [false, true])
            for (const { origin, text } of (
              await run(setup, { way: '', isProxy, isInConfig }, 'default')
            ).seen)
              if (isStored(text)) home.add(origin);
        homes.set(`${id}, ${name}`, home);
        for (const mode of modes)
          for (const attack of attacksOn(entry)) {
            const { seen, code } = await run(setup, attack, mode);
            const leaks = seen.filter(({ origin, text, showsCertificate }) => {
              const isHome = home.has(origin);
              if (showsCertificate && !isHome) return true;
              if (!isStored(text)) return false;
              if (!isHome && !tokenOrigins.test(origin)) return true;
              return /CALLERS/i.test(addedBy(text, entry));
            });
            cases.push({
              name: `${id}, ${name}: ${attack.way}`,
              mode,
              code,
              leaks: leaks.map(({ origin, text }) => `${origin}\n${text.slice(0, 600)}`),
            });
          }
      }
    }
  }, 300_000);

  /** Without what a caller may say to any credential: options, and the vendor's own format. */
  function addedBy(text: string, entry: ProviderEntry): string {
    const free = [
      ...(entry.settings ?? []),
      ...(entry.callerHeaders ?? []),
      ...Object.entries(entry.settingHeaders ?? {}).flatMap(([header, name]) =>
        ['option', 'protocol'].includes(settingKind(name) ?? '') ? header : [],
      ),
    ].filter((name) => ['option', 'protocol', undefined].includes(settingKind(name)));
    let rest = text.replace(/"x-callers[^"]*":"[^"]*"/g, '');
    for (const name of free) rest = rest.replaceAll(new RegExp(`"${name}":"[^"]*"`, 'gi'), '');
    // An API version stands in the path or the query; a user in the body is just that.
    return rest.replace(/api-version=CALLERS|\/CALLERS\/actions|"user(?:_id)?":"CALLERS"/g, '');
  }

  it('reaches its own provider, whoever that is', () => {
    const unreached = [...homes]
      .filter(([name, home]) => home.size === 0 && !name.endsWith('alone'))
      .map(([name]) => name);
    expect(unreached).toEqual([]);
    expect(homes.size).toBeGreaterThan(100);
  });

  it('is seen nowhere else, and beside nothing of the caller’s, in all cases', () => {
    const leaks = cases.filter((each) => each.leaks.length > 0);
    for (const mode of modes)
      process.stdout.write(
        `${mode}: ${cases.filter((each) => each.mode === mode).length} cases, ${leaks.filter((each) => each.mode === mode).length} with a stored credential where it does not belong\n`,
      );
    expect(leaks.map(({ mode, name, leaks: [first] }) => `${mode}: ${name}\n${first}`)).toEqual([]);
    expect(cases.length).toBeGreaterThan(3_000);
  });

  it('is answered for with a clear refusal where a caller would add to it', () => {
    const codes = new Map<string, number>();
    for (const { mode, code } of cases)
      codes.set(`${mode} ${code}`, (codes.get(`${mode} ${code}`) ?? 0) + 1);
    process.stdout.write(`${JSON.stringify(Object.fromEntries(codes), null, 1)}\n`);
    const odd = cases.filter(({ code }) => code === 'internal');
    expect(odd.map(({ name }) => name)).toEqual([]);
  });

  const openai: Setup = {
    entry: findProvider('openai') as ProviderEntry,
    key: 'sk-STORED',
    settings: {},
  };
  const toStrangers = (url: string): Attack => ({
    way: '',
    headers: { 'x-service-custom-host': url },
  });

  it('goes to any host where the organisation says so: the recorder would have seen it', async () => {
    const { seen } = await run(
      { ...openai, opensAllHosts: true },
      toStrangers(`${strangers}/v1`),
      'default',
    );
    const [only] = seen;
    expect([seen.length, only?.origin]).toEqual([1, strangers]);
    // Key and headers as published; what proves our machine is never shown there.
    expect([only?.text.includes('sk-STORED'), only?.showsCertificate]).toEqual([true, false]);
  });

  it.each([
    ['https://callers.example/team', 'https://callers.example/team/v1', true],
    ['https://callers.example/team', 'https://callers.example/team', true],
    ['https://callers.example/team', ' https://CALLERS.example:443/team/ ', true],
    ['https://callers.example/team', 'https://callers.example/teams', false],
    ['https://callers.example/team', 'https://callers.example/other', false],
    ['https://callers.example/team', 'https://callers.example/team/../other', false],
    ['https://callers.example/team', 'https://callers.example/team/%2e%2e/other', false],
    ['https://callers.example/team', 'https://callers.example/team/..%2fother', false],
    ['https://callers.example/team', 'http://callers.example/team', false],
    ['https://callers.example', 'https://callers.example:8443', false],
    ['https://callers.example', 'https://callers.example.evil.example', false],
    ['https://callers.example', 'https://x.callers.example', false],
    ['https://callers.example', 'https://callers.example@evil.example', false],
    ['https://callers.example', 'https://callers.example\\@evil.example', false],
  ])('with %s allowed goes to %s: %s', async (allowed, asked, goes) => {
    const { seen, code } = await run(
      { ...openai, allowedHosts: [allowed] },
      toStrangers(asked),
      'default',
    );
    expect([seen.length === 1, code]).toEqual(
      goes ? [true, expect.anything()] : [false, 'host.not_allowed'],
    );
  });
});
