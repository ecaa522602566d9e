import { type Endpoint, endpoints } from '@sluice/contracts';
import {
  type EndpointEntry,
  findProvider,
  modesOf,
  type ProviderEntry,
  pathOf,
  providerIds,
} from '@sluice/providers';
import { eventually, inTurns, isLongForm, json } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathnameOf, unifiedEndpoints } from '../../src/routes/unified-endpoints.ts';
import { type Lab, startLab } from '../lab.ts';
import { chatReply, errorOf } from '../scenario.ts';
import {
  allowed,
  allowedBody,
  forbidden,
  inBodies,
  inConfigs,
  limitedTo,
  type Naming,
  names,
  send,
  spellingsOf,
  unreadable,
} from './naming-models.ts';

/** Ways to name a model that meet an endpoint or path: in the suite a fifth, others at each (`npm run abuse`: all). */
const oneOf = 5;
const casesMin = isLongForm ? 5_000 : 1_000;

const providers = providerIds().map((id) => findProvider(id) as ProviderEntry);

/** What addresses need, of whichever provider. */
const configurations = {
  azure_resource_name: 'resource',
  azure_foundry_url: 'https://resource.services.ai.azure.com/models',
  vertex_project_id: 'project',
  predibase_tenant_id: 'tenant',
  oracle_compartment_id: 'compartment',
  oracle_region: 'region',
  databricks_workspace: 'workspace',
  workers_ai_account_id: 'account',
  snowflake_account: 'account',
};

/** Settings that say whose account it is, in which version or form: never which model. */
const notModels =
  /^(?:aws-|amzn-sagemaker-(?:custom-attributes|enable-explanations|inference-id|session-id)$|azure-(?:ad|auth|entra|managed|workload|resource|api-version|extra-params|foundry)|vertex-|oracle-|predibase-tenant|workers-ai-account|snowflake-|databricks-workspace|huggingface-base-url|scenario-api-secret|byteplus-region|anthropic-(?:(?:aws-|google-)?workspace|user-profile)-id|openai-(?:organization|project))/;

const cases: { what: string; sent: number; served: string[] }[] = [];
afterAll(() => {
  const lines = cases.map(
    ({ what, sent, served }) => `  ${what}: ${sent} cases, ${served.length} served`,
  );
  process.stdout.write(`allowed models\n${lines.join('\n')}\n`);
});

/** Sends each case and gathers those in which the forbidden model gets through. */
async function servedOf(
  what: string,
  all: readonly (Parameters<typeof send>[1] & { provider: string })[],
): Promise<string[]> {
  const served: string[] = [];
  const bundles = new Map<string, ReturnType<typeof limitedTo>>();
  for (const each of all) {
    const bundle = bundles.get(each.provider) ?? limitedTo(each.provider, configurations);
    bundles.set(each.provider, bundle);
    const sent = await send(bundle, each);
    if (typeof sent === 'string') continue;
    if (await names(sent, each.forbidden ?? forbidden))
      served.push(`${each.provider} ${each.pathname} ${each.name}`);
  }
  cases.push({ what, sent: all.length, served });
  return served;
}

const unified = providers.flatMap((provider) =>
  unifiedEndpoints
    .filter(({ id }) => modesOf(provider, id).size > 0)
    .map((endpoint) => ({
      provider: provider.id,
      endpoint: endpoint.id,
      pathname: pathnameOf(endpoint),
      isProxy: false,
      settings: provider.settings ?? [],
    })),
);

/** Opened by an upgrade: `services/gateway/test/realtime` has theirs. */
const sessions = new Set<string>(
  endpoints.filter(({ reply }) => reply === 'session').map(({ id }) => id),
);

/** Every path that an adapter asks its provider at, with this model. */
function adapterPaths(provider: ProviderEntry, model: string): string[] {
  const found = new Set<string>();
  for (const [endpoint, offered] of Object.entries(provider.endpoints)) {
    if (endpoint === 'listModels' || endpoint === 'proxy' || sessions.has(endpoint)) continue;
    const entries: readonly EndpointEntry[] = 'choose' in offered ? offered.all : [offered];
    for (const entry of entries)
      for (const stream of [false, true]) {
        const request = { model, voice: 'voice', file: '', user: 'tenant' };
        const setting = (name: string) =>
          (configurations as Record<string, string>)[name.replaceAll('-', '_')];
        found.add(pathOf(entry, { model, stream, setting, request }));
      }
  }
  return [...found];
}

function passThrough(path: string) {
  const query = path.indexOf('?');
  return {
    endpoint: 'proxy' as Endpoint,
    isProxy: true,
    pathname: `/v1/proxy${query < 0 ? path : path.slice(0, query)}`,
    search: query < 0 ? '' : path.slice(query),
  };
}

const adapters = providers.flatMap((provider) => {
  const withModel = adapterPaths(provider, forbidden);
  const withAllowed = adapterPaths(provider, allowed);
  return withModel.map((path, index) => ({
    provider: provider.id,
    path,
    allowedPath: withAllowed[index] ?? path,
  }));
});

describe('a provider that is limited to certain models serves no other', () => {
  it('at any unified endpoint, however the body, query or config names it', async () => {
    const all = unified.flatMap((road, at) =>
      inTurns([...inBodies, ...inConfigs], oneOf, at).map((naming) => ({ ...road, ...naming })),
    );
    expect(all.length).toBeGreaterThan(casesMin);
    expect(await servedOf('unified endpoints × providers × namings', all)).toEqual([]);
  });

  it('by any setting in a header', async () => {
    const all = unified.flatMap((road) =>
      road.settings
        .filter((setting) => !notModels.test(setting))
        .flatMap((setting) =>
          [allowed, undefined].map((model) => ({
            ...road,
            name: setting,
            body: JSON.stringify({ model, messages: [], input: 'Hi', prompt: 'Hi' }),
            headers: {
              'content-type': 'application/json',
              [`x-service-${setting}`]: forbidden,
            },
          })),
        ),
    );
    expect(all.length).toBeGreaterThan(20);
    expect(await servedOf('settings in headers', all)).toEqual([]);
  });

  it('in a call that passes through to a path of an adapter, however it is spelled', async () => {
    const named = adapters.filter(({ path }) => path.includes(forbidden));
    expect(named.length).toBeGreaterThan(25);
    const all = named.flatMap(({ provider, path }) =>
      spellingsOf(path).flatMap((spelling) =>
        [allowedBody, '', '{}'].map((body) => ({
          provider,
          ...passThrough(spelling.path),
          name: spelling.name,
          body,
        })),
      ),
    );
    expect(await servedOf('pass-through paths × spellings', all)).toEqual([]);
  });

  it('in a call that passes through, however its body names it or hides it', async () => {
    const all = adapters.flatMap(({ provider, allowedPath }, at) =>
      inTurns([...inBodies, ...unreadable], oneOf, at)
        .filter((naming) => naming.search === undefined || !allowedPath.includes('?'))
        // The large body and the compressed one say the same of every provider.
        .filter(({ name }) => name !== 'large' || provider === 'openai')
        .map((naming: Naming) => {
          const road = passThrough(allowedPath);
          return { provider, ...road, ...naming, search: naming.search ?? road.search };
        }),
    );
    expect(all.length).toBeGreaterThan(casesMin);
    expect(await servedOf('pass-through bodies', all)).toEqual([]);
  });

  it('where the model stands elsewhere: at the provider, in a file, nowhere', async () => {
    const elsewhere: [string, object][] = [
      ['/batches', { input_file_id: 'file-1', endpoint: '/v1/chat/completions' }],
      ['/threads/t/runs', { assistant_id: 'asst-1' }],
      ['/threads/runs', { assistant_id: 'asst-1', tools: [{ model: allowed }] }],
      ['/responses', { prompt: { id: 'pmpt-1' } }],
      ['/responses', { prompt: { id: 'pmpt-1' }, tools: [{ model: allowed }] }],
      ['/chat/completions', { messages: [] }],
      ['/realtime/sessions', { session: { audio: { input: { model: allowed } } } }],
      ['/evals/e/runs', { data_source: {} }],
      ['/predictions', { input: {} }],
      ['/videos/v/remix', { prompt: 'Hi' }],
      ['/a/path/nobody/knows', { model: allowed }],
      ['/endpoints/other/invocations', { model: allowed }],
      ['/openai/deployments/other/chat/completions', { model: allowed }],
      ['/models/other/model/predictions', { model: allowed }],
      ['/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aprovisioned-model%2Fx/converse', {}],
    ];
    for (const [path, body] of elsewhere) {
      const sent = await send(limitedTo('openai'), {
        ...passThrough(path),
        name: path,
        body: JSON.stringify(body),
      });
      expect(typeof sent === 'string' ? sent : 'served', path).toMatch(
        /^provider\.model_(?:unreadable|not_allowed)$/,
      );
    }
    for (const endpoint of unifiedEndpoints)
      expect(
        await send(limitedTo('openai'), {
          endpoint: endpoint.id,
          pathname: pathnameOf(endpoint),
          isProxy: false,
          name: 'no model',
          body: JSON.stringify({ messages: [], prompt: { id: 'pmpt-1' } }),
        }),
        endpoint.at,
      ).toBe('provider.model_unreadable');
  });

  // What a test that refused everything could not tell apart.
  it('and goes on serving what is allowed, at every endpoint and at paths that are known', async () => {
    const refused: string[] = [];
    let sent = 0;
    for (const road of unified) {
      const result = await send(limitedTo(road.provider, configurations), {
        ...road,
        name: 'allowed',
        body: allowedBody,
      });
      sent++;
      if (typeof result === 'string' && result.startsWith('provider.model_')) refused.push(result);
    }
    for (const { provider, allowedPath } of adapters) {
      sent++;
      const result = await send(limitedTo(provider, configurations), {
        provider,
        ...passThrough(allowedPath),
        name: 'allowed',
        body: allowedBody,
      } as never);
      if (typeof result === 'string') refused.push(`${provider} ${allowedPath}: ${result}`);
    }
    cases.push({ what: 'allowed ones', sent, served: Array(sent - refused.length).fill('') });
    // Where the whole path, or the host, is the model's name, only the unified endpoints go.
    expect(refused).toEqual([
      expect.stringMatching(/^predibase /),
      expect.stringMatching(/^triton /),
      expect.stringMatching(/^vertex-ai .*\/endpoints\/allowed-model-7\//),
      expect.stringMatching(/^elevenlabs \/speech-to-text/),
      expect.stringMatching(/^fal-ai /),
      expect.stringMatching(/^segmind /),
    ]);
  });

  it('but lets files and records of the provider pass, whatever they are', async () => {
    const form = { 'content-type': 'multipart/form-data; boundary=x' };
    for (const [method, path, headers] of [
      ['POST', '/files', form],
      ['POST', '/uploads/u/parts', form],
      ['GET', '/files/f/content', {}],
      ['GET', '/batches', {}],
      ['DELETE', '/a/path/nobody/knows', {}],
      ['POST', '/responses/r/cancel', {}],
    ] as const)
      expect(
        typeof (await send(limitedTo('openai'), {
          ...passThrough(path),
          method,
          name: path,
          body: method === 'POST' && path.includes('f') ? 'x' : '',
          headers,
        })),
        path,
      ).toBe('object');
  });
});

describe('a running gateway', () => {
  let lab: Lab;
  let few: string;
  let all: string;
  beforeAll(async () => {
    lab = await startLab();
    const { scenario } = lab;
    scenario.upstream.handle(json(200, chatReply));
    const settings = {
      aiProviderId: 'openai',
      key: 'sk-saved',
      customHost: `${scenario.upstream.url}/v1`,
    };
    few = await lab.saveProvider(settings);
    all = await lab.saveProvider(settings);
    await lab.manage('PUT', `/integrations/${few.slice(1)}/models`, {
      models: [{ slug: allowed, enabled: true, is_custom: true }],
      allow_all_models: false,
    });
    await eventually(async () => {
      const { code } = await errorOf(
        await call('/v1/chat/completions', few, { body: '{"model":"x"}' }),
      );
      if (code !== 'provider.model_not_allowed') throw new Error(`still ${code}`);
    });
  });
  afterAll(() => lab.stop());

  const call = (
    path: string,
    provider: string,
    naming: Omit<Naming, 'name'> & { method?: string },
  ) =>
    lab.scenario.call(`${path}${naming.search ?? ''}`, {
      host: null,
      method: naming.method,
      headers: { 'x-service-provider': provider, ...naming.headers },
      rawBody: naming.body,
    });

  it('refuses what may be another model, by code and place, and the provider hears nothing', async () => {
    const before = lab.scenario.upstream.requests.length;
    const roads = [
      ...[
        ...inBodies,
        ...inConfigs.filter(({ config }) => !JSON.stringify(config).includes('deploy')),
      ].map((naming) => ({ path: '/v1/chat/completions', ...naming })),
      // fetch writes its own framing: chunks are for the stages alone.
      ...[...inBodies, ...unreadable.filter(({ name }) => name !== 'in chunks')].map((naming) => ({
        path: '/v1/proxy/chat/completions',
        ...naming,
      })),
      ...[
        '/models/M:generateContent',
        '/openai/deployments/M/chat/completions',
        '/model/M/converse',
      ].map((path) => ({
        path: `/v1/proxy${path.replace('M', forbidden)}`,
        name: path,
        body: allowedBody,
      })),
    ];
    const codes = new Map<string, number>();
    for (const { path, ...naming } of roads) {
      const response = await call(path, few, {
        ...naming,
        headers: {
          ...('headers' in naming ? naming.headers : {}),
          ...('config' in naming && naming.config !== undefined
            ? { 'x-service-config': JSON.stringify(naming.config) }
            : {}),
        },
      });
      const { status, code, param } = await errorOf(response);
      expect([400, 403], `${path} ${naming.name}: ${code}`).toContain(status);
      expect(param, `${path} ${naming.name}`).toBeTruthy();
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(lab.scenario.upstream.requests.length - before).toBe(0);
    expect([...codes.keys()].sort()).toEqual([
      'provider.model_not_allowed',
      'provider.model_unreadable',
      'request.ambiguous_member',
    ]);
    cases.push({ what: 'a running gateway', sent: roads.length, served: [] });
  });

  it('serves what is allowed, and bytes of unlimited providers as they came', async () => {
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions'])
      expect((await call(path, few, { body: allowedBody })).status, path).toBe(200);
    const odd = `{"a":1,"a":2,"Model":"x","model":"${forbidden}","model":"y","models":["z"]}`;
    const count = lab.scenario.upstream.requests.length;
    expect((await call('/v1/proxy/chat/completions', all, { body: odd })).status).toBe(200);
    expect((await lab.scenario.upstream.received(count + 1)).body.toString()).toBe(odd);
  });

  it('explains a refusal as it would refuse', async () => {
    const body = JSON.stringify({ model: allowed, models: [forbidden], messages: [] });
    const response = await call('/v1/explain/chat/completions', few, { body });
    expect(await response.text()).toContain('provider.model_not_allowed');
  });

  it('records, and limits, the model that a path names', async () => {
    const { scenario, records } = lab;
    const path = '/v1/proxy/v1beta/models/gemini-2.5-pro:generateContent';
    const asked = await call(path, all, { body: '{"model":"cheap","contents":[]}' });
    expect(asked.status).toBe(200);
    const [record] = await records.of(asked.headers.get('x-service-request-id') ?? '', 1);
    expect(record?.model).toBe('gemini-2.5-pro');
    const policy = await scenario.admin<{ id: string }>('POST', '/policies/rate-limits', {
      name: 'by model',
      workspace_id: scenario.stack.credentials.workspace_id,
      type: 'requests',
      unit: 'rpd',
      value: 1,
      conditions: [{ key: 'model', value: 'gemini-2.5-pro' }],
      group_by: [{ key: 'model' }],
    });
    await eventually(async () => {
      const { status } = await call(path, all, { body: '{"contents":[]}' });
      if (status !== 429) throw new Error(`still ${status}`);
    });
    await scenario.admin('DELETE', `/policies/rate-limits/${policy.id}`);
  });
});
