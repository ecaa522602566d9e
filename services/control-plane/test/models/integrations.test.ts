import { findProvider, keptSettings, providerIds } from '@sluice/providers';
import { json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBundle } from '../support/bundle.ts';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const admin = () => h.as(h.first.admin_key);
const secret = 'sk-secret-of-openai-1234';
let made = 0;

describe('integrations', () => {
  it('of a workspace come with a provider, and never show their credentials', async () => {
    const created = await workspace().post('/integrations', {
      name: 'Main',
      slug: 'main',
      ai_provider_id: 'openai',
      key: secret,
      description: 'd',
      configurations: {
        openai_organization: 'org-1',
        custom_host: 'https://proxy.example.org/v1',
        custom_headers: { 'x-team': 'a', authorization: 'Bearer hidden-token' },
        azure_entra_client_secret: 'hidden-secret-1',
      },
    });
    expect(created.status).toBe(200);
    expect(created.body).toEqual({
      id: expect.any(String),
      slug: 'main',
      warnings: [expect.stringContaining('azure_entra_client_secret')],
    });
    const read = await workspace().get('/integrations/main').expect(200);
    expect(read.body).toMatchObject({
      object: 'integration',
      ai_provider_id: 'openai',
      status: 'active',
      masked_key: 'sk*******34',
      allow_all_models: true,
      workspace_count: 1,
      configurations: {
        openai_organization: 'org-1',
        custom_host: 'https://proxy.example.org/v1',
        masked_azure_entra_client_secret: 'hi*******-1',
      },
    });
    const everything = JSON.stringify([
      read.body,
      await h.db.auditEntry.findMany({ omit: { sequence: true } }),
    ]);
    expect(everything).not.toMatch(/sk-secret|hidden-(token|secret)/);
    const row = await h.db.integration.findFirstOrThrow({ where: { slug: 'main' } });
    expect(Buffer.from(row.sealedCredentials).includes(secret)).toBe(false);
    expect((await workspace().get('/providers/main')).body).toMatchObject({
      integration_id: 'main',
      object: 'provider',
      status: 'active',
    });
  });

  it('come without a provider, or with one of another slug, when asked', async () => {
    const body = { name: 'x', ai_provider_id: 'openai', slug: 'bare' };
    await workspace()
      .post('/integrations', { ...body, create_default_provider: false })
      .expect(200);
    await workspace().get('/providers/bare').expect(404);
    await workspace()
      .post('/integrations', { ...body, slug: 'named', default_provider_slug: 'fast' })
      .expect(200);
    expect((await workspace().get('/providers/fast')).body.integration_id).toBe('named');
    const taken = await workspace().post('/integrations', {
      ...body,
      slug: 'other',
      default_provider_slug: 'fast',
    });
    expect([taken.status, taken.body.data.field]).toEqual([400, 'body.default_provider_slug']);
    await workspace().get('/integrations/other').expect(404);
    const none = { ...body, slug: 'none', create_default_provider: false };
    const told = await workspace().post('/integrations', { ...none, default_provider_slug: 'x-1' });
    expect(told.body.warnings).toEqual([
      'body.default_provider_slug: does nothing: create_default_provider is false',
    ]);
    await workspace().delete('/integrations/none').expect(200);
    // Of the organisation: no workspace has it yet, so that there is none to name.
    const ofAll = { ...body, slug: 'of-all', default_provider_slug: 'fast-too' };
    const { warnings } = (await admin().post('/integrations', ofAll).expect(200)).body;
    expect(warnings).toEqual([expect.stringContaining('body.default_provider_slug: does nothing')]);
    await admin().delete('/integrations/of-all').expect(200);
  });

  it('take every provider of the catalogue, by its id and by its other names', async () => {
    const names = providerIds().flatMap((id) => [id, ...(findProvider(id)?.aliases ?? [])]);
    const refused: string[] = [];
    for (const name of names) {
      const body = { name, slug: `of-${name}`, ai_provider_id: name };
      const { status } = await workspace().post('/integrations', {
        ...body,
        create_default_provider: false,
      });
      if (status !== 200) refused.push(name);
    }
    expect(refused).toEqual([]);
    const read = await workspace().get('/integrations/of-azure-foundry').expect(200);
    expect(read.body.ai_provider_id).toBe('azure-foundry');
  });

  it.each([
    [
      'openai',
      { openai_orgnaization: 'o' },
      /openai_orgnaization.* did you mean openai_organization\?/,
    ],
    ['openai', { 'openai-project': 'p' }, /did you mean openai_project\?/],
    [
      'openai',
      { oracle_user: 'o' },
      /oracle_user: is no setting of openai; there are .*custom_host/,
    ],
    ['openai', { openai_organization: { a: 1 } }, /openai_organization: must be a text/],
    ['openai', { openai_organization: ['a'] }, /must be a text/],
    ['openai', { openai_organization: 'a\nb' }, /must have only characters that HTTP headers take/],
    ['openai', { openai_project: 'p“' }, /must have only characters that HTTP headers take/],
    ['bedrock', { aws_region: 'eu\n' }, /must not hold control characters/],
    ['azure-openai', { azure_deployment_config: { a: 1 } }, /must be a list/],
    ['azure-openai', { azure_deployment_config: true }, /must be a list/],
    ['vertex-ai', { vertex_service_account_json: ['a'] }, /must be an object/],
    ['vertex-ai', { vertex_regoin: 'eu' }, /did you mean vertex_region\?/],
    ['openai', { tls_ca: 5 }, /tls_ca/],
    ['openai', { tls_ca: 'authorities' }, /tls_ca: must have certificates, as PEM/],
    [
      'openai',
      { tls_ca: '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----' },
      /tls_ca: must have certificates, as PEM/,
    ],
    ['openai', { tls_cert: 'certificate' }, /tls_cert: .*belong together/],
    ['openai', { tls_key: 'key' }, /tls_key: .*belong together/],
    ['openai', { tls_key: 'key', tls_cert: 'certificate' }, /tls_key: /],
    ['openai', { custom_hots: 'https://a.example.org' }, /did you mean custom_host\?/],
  ])('refuse for %s the settings %j', async (provider, configurations, words) => {
    const slug = `refuses-${++made}`;
    const body = { name: 'x', slug, ai_provider_id: provider };
    const { status, body: told } = await workspace().post('/integrations', {
      ...body,
      configurations,
    });
    const field = `body.configurations.${Object.keys(configurations)[0]}`;
    expect([status, told.data.field]).toEqual([400, field]);
    expect(told.data.errors).toEqual([expect.stringMatching(words)]);
    await workspace().post('/integrations', body).expect(200);
    const changed = await workspace().put(`/integrations/${slug}`, { configurations });
    expect([changed.status, changed.body.data.field]).toEqual([400, field]);
    expect((await workspace().get(`/integrations/${slug}`)).body.configurations).toEqual({});
  });

  it('refuse a key that no header takes, and keep one that was kept', async () => {
    for (const [provider, key, status] of [
      ['openai', 'sk-a\n', 400],
      ['openai', 'sk-“a”', 400],
      ['anthropic', 'sk-\u0007a', 400],
      ['azure-openai', 'a\r\nb', 400],
      ['vertex-ai', '{\n"client_email": "é"}', 200],
      ['oracle', '-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----\n', 200],
    ] as const) {
      const slug = `key-${++made}`;
      const body = { name: 'x', slug, ai_provider_id: provider };
      const refusal = [400, 'body.key', expect.stringMatching(/^body.key: must have only charact/)];
      const outcome = (answer: { status: number; body: { data?: Record<string, string> } }) =>
        answer.status === 200
          ? [200, undefined, undefined]
          : [answer.status, answer.body.data?.field, answer.body.data?.message];
      const expected = status === 200 ? [200, undefined, undefined] : refusal;
      const created = await workspace().post('/integrations', { ...body, key });
      expect([key, ...outcome(created)]).toEqual([key, ...expected]);
      if (status === 200) continue;
      await workspace()
        .post('/integrations', { ...body, key: secret })
        .expect(200);
      const changed = await workspace().put(`/integrations/${slug}`, { key });
      expect([key, ...outcome(changed)]).toEqual([key, ...expected]);
      const virtual = await workspace().post('/virtual-keys', { name: slug, provider, key });
      expect([key, ...outcome(virtual)]).toEqual([key, ...expected]);
    }
  });

  it('take the settings of every provider, in both spellings, and in warnings those of others', async () => {
    for (const id of providerIds()) {
      const settings = keptSettings(findProvider(id)!);
      const configurations = Object.fromEntries(
        settings.map(({ name, form }, index) => [
          index % 2 === 1 && settings.length > 4
            ? name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())
            : name,
          form === 'list' ? [] : form === 'object' ? {} : 'a-1',
        ]),
      );
      const body = { name: id, slug: `all-of-${id}`, ai_provider_id: id, configurations };
      const answer = await workspace().post('/integrations', body);
      expect([id, answer.status, answer.body.warnings]).toEqual([id, 200, undefined]);
    }
    const others = { azure_resource_name: 'r', openai_project: 'p' };
    const body = { name: 'x', slug: 'of-others', ai_provider_id: 'openai', configurations: others };
    expect((await workspace().post('/integrations', body)).body.warnings).toEqual([
      'body.configurations.azure_resource_name: is no setting of openai, and does nothing there',
    ]);
  });

  it('take of lenient callers what nobody has, which may be sent back', async () => {
    const configurations = { openai_orgnaization: 'o', custom_host: 'https://a.example.org' };
    const body = { name: 'x', slug: 'lenient', ai_provider_id: 'openai', configurations };
    const { body: created } = await workspace()
      .post('/integrations', body)
      .set('x-service-lenient-input', 'true')
      .expect(200);
    expect(created.warnings).toEqual([expect.stringContaining('openai_orgnaization')]);
    const { body: shown } = await workspace().get('/integrations/lenient').expect(200);
    expect(shown.configurations).toEqual(configurations);
    const back = { configurations: shown.configurations };
    expect((await workspace().put('/integrations/lenient', back).expect(200)).body).toEqual({});
    const changed = { configurations: { openai_orgnaization: 'p' } };
    await workspace().put('/integrations/lenient', changed).expect(400);
    const removed = { configurations: { openai_orgnaization: null } };
    await workspace().put('/integrations/lenient', removed).expect(200);
  });

  it.each([
    ['no name', { ai_provider_id: 'openai' }, 'body.name'],
    ['no provider', { name: 'x' }, 'body.ai_provider_id'],
    ['an unknown provider', { name: 'x', ai_provider_id: 'nobody' }, 'body.ai_provider_id'],
    ['a bad slug', { name: 'x', ai_provider_id: 'openai', slug: 'a b' }, 'body.slug'],
    [
      'a host that is no URL',
      {
        name: 'x',
        ai_provider_id: 'openai',
        configurations: { custom_host: 'file:///etc/passwd' },
      },
      'body.configurations.custom_host',
    ],
    [
      'a header that splits',
      {
        name: 'x',
        ai_provider_id: 'openai',
        configurations: { custom_headers: { 'x-a': 'b\r\nc: d' } },
      },
      'body.configurations.custom_headers.x-a',
    ],
    [
      'a header that HTTP does not carry',
      { name: 'x', ai_provider_id: 'openai', configurations: { custom_headers: { 'x-a': '€' } } },
      'body.configurations.custom_headers.x-a',
    ],
    [
      'an unknown multiplier',
      { name: 'x', ai_provider_id: 'openai', pricing_adjustments: { multiplier: { moon: 1 } } },
      'body.pricing_adjustments.multiplier',
    ],
    [
      'a secret reference',
      {
        name: 'x',
        ai_provider_id: 'openai',
        secret_mappings: [{ target_field: 'key', secret_reference_id: 'a' }],
      },
      'body.secret_mappings[0].secret_reference_id',
    ],
  ])('refuse %s', async (_case, body, field) => {
    const answer = await workspace().post('/integrations', body);
    expect([answer.status, answer.body.data.errorCode, answer.body.data.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
  });

  it('share no slug: of two creations at once one gets 409', async () => {
    const body = { name: 'x', ai_provider_id: 'openai', slug: 'contested' };
    const answers = await Promise.all([
      workspace().post('/integrations', body),
      workspace().post('/integrations', body),
    ]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
    const refused = answers.find((answer) => answer.status === 409);
    expect(refused?.body.data.errorCode).toBe('AB07');
  });

  it('change by parts: secrets stay unless named, null removes', async () => {
    await workspace().post('/integrations', {
      name: 'x',
      slug: 'parts',
      ai_provider_id: 'openai',
      key: secret,
      configurations: { openai_project: 'p', aws_secret_access_key: 'hidden-secret-2' },
    });
    expect(
      (
        await workspace().put('/integrations/parts', {
          name: 'y',
          configurations: { masked_aws_secret_access_key: '***', openai_project: null },
        })
      ).body,
    ).toEqual({});
    const read = await workspace().get('/integrations/parts');
    expect(read.body).toMatchObject({
      name: 'y',
      masked_key: 'sk*******34',
      configurations: { masked_aws_secret_access_key: 'hi*******-2' },
    });
    expect(read.body.configurations).not.toHaveProperty('openai_project');
    await workspace().put('/integrations/parts', { key: null });
    expect((await workspace().get('/integrations/parts')).body.masked_key).toBe('');
    await workspace().put('/integrations/none', { name: 'y' }).expect(404);
  });

  it('take their providers with them when deleted', async () => {
    await workspace()
      .post('/integrations', { name: 'x', slug: 'short-lived', ai_provider_id: 'openai' })
      .expect(200);
    expect((await workspace().delete('/integrations/short-lived')).body).toEqual({});
    await workspace().get('/providers/short-lived').expect(404);
    await workspace().delete('/integrations/short-lived').expect(404);
  });

  it('list by level, with pages', async () => {
    await admin()
      .post('/integrations', {
        name: 'Shared',
        slug: 'shared',
        ai_provider_id: 'anthropic',
        key: 'sk-ant',
      })
      .expect(200);
    const slugs = async (query: string, caller = admin()) =>
      (await caller.get(`/integrations?page_size=1000&${query}`)).body.data.map(
        (row: { slug: string }) => row.slug,
      );
    expect(await slugs('type=organisation')).toEqual(['shared']);
    expect(await slugs('type=workspace')).not.toContain('shared');
    expect(await slugs('')).toContain('shared');
    // Not granted to the workspace, so not listed there.
    expect(await slugs('', workspace())).not.toContain('shared');
    await workspace().get('/integrations/shared').expect(403);
    const page = await admin().get('/integrations?page_size=1&current_page=1');
    expect(page.body.data).toHaveLength(1);
    expect(page.body.total).toBeGreaterThan(2);
    await admin().get('/integrations?type=moon').expect(400);
  });
});

describe('/integrations/{slug}/models', () => {
  it('adds, changes, lists and removes models', async () => {
    await workspace().post('/integrations', {
      name: 'x',
      slug: 'models',
      ai_provider_id: 'openai',
    });
    const model = {
      slug: 'my-model',
      enabled: true,
      is_custom: true,
      base_model_slug: 'gpt-4o',
      configurations: { custom_host: 'https://models.example.org' },
      pricing_config: { type: 'static', pay_as_you_go: { request_token: { price: 0.00000025 } } },
    };
    expect(
      (
        await workspace().put('/integrations/models/models', {
          models: [model, { slug: 'gpt-4o', enabled: false }],
          allow_all_models: false,
        })
      ).body,
    ).toEqual({});
    const listed = await workspace().get('/integrations/models/models');
    expect(listed.body.total).toBe(2);
    expect(listed.body.models).toMatchObject([
      { slug: 'gpt-4o', enabled: false, is_custom: false },
      model,
    ]);
    expect((await workspace().get('/integrations/models')).body.allow_all_models).toBe(false);
    await workspace().put('/integrations/models/models', {
      models: [{ slug: 'my-model', enabled: false }],
    });
    expect((await workspace().get('/integrations/models/models')).body.models[1]).toMatchObject({
      enabled: false,
      is_custom: true,
      base_model_slug: 'gpt-4o',
    });
    // Only custom ones go.
    await workspace().delete('/integrations/models/models?slugs=my-model,gpt-4o').expect(200);
    expect(
      (await workspace().get('/integrations/models/models')).body.models.map(
        (row: { slug: string }) => row.slug,
      ),
    ).toEqual(['gpt-4o']);
    await workspace().delete('/integrations/models/models').expect(400);
    await workspace()
      .put('/integrations/models/models', { models: [{ slug: 'x' }] })
      .expect(400);
    const twice = await workspace().put('/integrations/models/models', {
      models: [
        { slug: 'gpt-4o', enabled: true },
        { slug: 'o3', enabled: true },
        { slug: 'gpt-4o', enabled: false },
      ],
    });
    expect([twice.status, twice.body.data.field]).toEqual([400, 'body.models[2].slug']);
  });
});

describe('/integrations/{slug}/workspaces', () => {
  it('gives a provider to who newly gets access, and makes none anew that was deleted', async () => {
    const path = '/integrations/once/workspaces';
    const body = { name: 'Once', slug: 'once', ai_provider_id: 'openai', key: secret };
    await admin().post('/integrations', body).expect(200);
    const grant = { id: h.first.workspace_slug, enabled: true };
    const send = (change: object) =>
      admin()
        .put(path, { workspaces: [{ ...grant, ...change }] })
        .expect(200);
    const provider = (status: number) => workspace().get('/providers/once').expect(status);
    await send({});
    await provider(200);
    await workspace().delete('/providers/once').expect(200);
    const { body: shown } = await admin().get(path).expect(200);
    await admin()
      .put(path, { workspaces: shown.workspaces })
      .set('x-service-lenient-input', 'true')
      .expect(200);
    await provider(404);
    await send({ rate_limits: [{ type: 'requests', unit: 'rpm', value: 9 }] });
    await provider(404);
    await send({ create_default_provider: true });
    await provider(200);
    await workspace().delete('/providers/once').expect(200);
    await send({ enabled: false });
    await send({ create_default_provider: false });
    await provider(404);
    await send({ enabled: false });
    await send({});
    await provider(200);
  });

  it('opens an integration to workspaces, with a provider, and closes it', async () => {
    await admin().post('/integrations', {
      name: 'Granted',
      slug: 'granted',
      ai_provider_id: 'openai',
      key: secret,
    });
    const refused = await workspace().post('/providers', { name: 'x', integration_id: 'granted' });
    expect([refused.status, refused.body.data.field]).toEqual([400, 'body.integration_id']);
    const grant = {
      id: h.first.workspace_slug,
      enabled: true,
      usage_limits: [{ credit_limit: 5, type: 'cost' }],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 9 }],
    };
    expect(
      (await admin().put('/integrations/granted/workspaces', { workspaces: [grant] })).body,
    ).toEqual({});
    expect((await admin().get('/integrations/granted/workspaces')).body).toMatchObject({
      total: 1,
      workspaces: [grant],
    });
    expect((await workspace().get('/providers/granted')).body.integration_id).toBe('granted');
    expect(
      (await workspace().get('/integrations?type=organisation')).body.data.map(
        (row: { slug: string }) => row.slug,
      ),
    ).toContain('granted');
    await workspace()
      .post('/providers', { name: 'Second one', integration_id: 'granted' })
      .expect(200);
    // Levels have scopes of their own: a workspace key lists an organisation's integration, and no more.
    await workspace().get('/integrations/granted').expect(403);

    await admin()
      .put('/integrations/granted/workspaces', {
        workspaces: [],
        override_existing_workspace_access: true,
      })
      .expect(200);
    expect((await admin().get('/integrations/granted/workspaces')).body.workspaces[0].enabled).toBe(
      false,
    );
    await workspace()
      .post('/providers', { name: 'Third one', integration_id: 'granted' })
      .expect(400);
    await admin()
      .put('/integrations/granted/workspaces', { workspaces: [{ id: 'ws-none', enabled: true }] })
      .expect(400);
    await admin().put('/integrations/granted/workspaces', {}).expect(400);
    const { workspace_id: id, workspace_slug: slug } = h.first;
    const twice = await admin().put('/integrations/granted/workspaces', {
      workspaces: [
        { id, enabled: true },
        { id: slug, enabled: false },
      ],
    });
    expect([twice.status, twice.body.data.field]).toEqual([400, 'body.workspaces[1].id']);
    const unknown = { name: 'x', ai_provider_id: 'opnai', key: secret };
    expect((await admin().post('/integrations', unknown)).body.data.message).toBe(
      'body.ai_provider_id: is no provider we know; did you mean openai?',
    );
  });

  it('gives workspaces that are not named what new ones get, and closes none by omission', async () => {
    const made = await Promise.all(
      ['named', 'with', 'without'].map((name) => admin().post('/admin/workspaces', { name })),
    );
    const [named, granted, other] = made.map(({ body }) => body.slug as string);
    const path = '/integrations/for-all/workspaces';
    const body = { name: 'All', slug: 'for-all', ai_provider_id: 'openai', key: secret };
    await admin().post('/integrations', body).expect(200);
    const put = (change: object) => admin().put(path, change);
    const open = async () => {
      const { workspaces } = (await admin().get(`${path}?page_size=1000`)).body;
      const found = workspaces as { id: string; enabled: boolean }[];
      return [named, granted, other].map((slug) => found.find(({ id }) => id === slug)?.enabled);
    };
    const workspaces = [{ id: granted, enabled: true }];
    const rate_limits = [{ type: 'requests', unit: 'rpm', value: 9 }];
    const global_workspace_access = { enabled: true, rate_limits };
    await put({ workspaces, global_workspace_access }).expect(200);
    expect(await open()).toEqual([undefined, true, undefined]);

    const refused = await put({ override_existing_workspace_access: true });
    expect([refused.status, refused.body.data.field]).toEqual([400, 'body.workspaces']);
    expect(await open()).toEqual([undefined, true, undefined]);

    const except = { workspaces: [{ id: named, enabled: false }] };
    await put({ ...except, override_existing_workspace_access: true }).expect(200);
    expect(await open()).toEqual([false, true, true]);
    const provider = (slug: string | undefined) =>
      admin().get(`/providers/for-all?workspace_id=${slug}`);
    expect((await provider(other)).status).toBe(200);
    expect((await provider(named)).status).toBe(404);
    const shown = (await admin().get(`${path}?page_size=1000`)).body.workspaces as { id: string }[];
    expect(shown.find(({ id }) => id === other)).toMatchObject({ rate_limits });

    await put({
      workspaces: [{ id: named, enabled: true }],
      global_workspace_access: null,
      override_existing_workspace_access: true,
    }).expect(200);
    expect(await open()).toEqual([true, false, false]);
  });

  it('limits, closes and opens the integration of one workspace there, and nowhere else', async () => {
    const own = { name: 'Own', slug: 'own', ai_provider_id: 'openai', key: secret };
    await workspace().post('/integrations', own).expect(200);
    const put = (body: object) => admin().put('/integrations/own/workspaces', body);
    const serves = async () => {
      const { bundle } = await readBundle(h, h.first.workspace_id);
      return bundle?.providers.find(({ slug }) => slug === 'own')?.integrationRateLimits.length;
    };
    expect((await admin().get('/integrations/own')).body.global_workspace_access_settings).toEqual({
      enabled: false,
      usage_limits: null,
      rate_limits: null,
    });
    expect(await serves()).toBe(0);
    const here = { id: h.first.workspace_slug, enabled: true };
    const rate_limits = [{ type: 'requests', unit: 'rpm', value: 9 }];
    for (const by of [admin(), workspace()])
      expect((await by.get('/integrations/own/workspaces')).body).toMatchObject({
        total: 1,
        workspaces: [{ ...here, workspace_id: h.first.workspace_id, usage_limits: null }],
      });
    expect((await admin().get('/integrations/own/workspaces?current_page=1')).body).toEqual({
      total: 1,
      workspaces: [],
    });
    // It was open before anybody said so: whoever limits it makes no provider anew.
    await workspace().delete('/providers/own').expect(200);
    await put({ workspaces: [{ ...here, rate_limits }] }).expect(200);
    await workspace().get('/providers/own').expect(404);
    await put({ workspaces: [{ ...here, create_default_provider: true }] }).expect(200);
    await put({ workspaces: [{ ...here, rate_limits }] }).expect(200);
    expect((await admin().get('/integrations/own/workspaces')).body).toMatchObject({
      workspaces: [{ ...here, rate_limits }],
    });
    expect(await serves()).toBe(1);
    await put({ workspaces: [{ ...here, enabled: false }] }).expect(200);
    expect(await serves()).toBeUndefined();
    await put({ workspaces: [here] }).expect(200);
    expect(await serves()).toBe(1);

    const { slug } = (await admin().post('/admin/workspaces', { name: 'Elsewhere' })).body;
    for (const body of [
      { workspaces: [here, { id: slug, enabled: true }] },
      { workspaces: [], global_workspace_access: { enabled: true } },
    ]) {
      const refused = await put(body);
      expect([refused.status, refused.body.data.code]).toEqual([400, 'admin.refused']);
    }
  });

  it('asks for a hundred tokens at the least, and counts anew when told to', async () => {
    const entry = { id: h.first.workspace_slug, enabled: true };
    const body = (credit_limit: number) => ({
      workspaces: [
        { ...entry, usage_limits: [{ credit_limit, type: 'tokens' }], reset_usage: true },
      ],
    });
    const refused = await admin().put('/integrations/granted/workspaces', body(99));
    expect([refused.status, refused.body.data.field]).toEqual([
      400,
      'body.workspaces[0].usage_limits[0].credit_limit',
    ]);
    await admin().put('/integrations/granted/workspaces', body(100)).expect(200);
    const [shown] = (await admin().get('/integrations/granted/workspaces')).body.workspaces;
    expect(shown.last_reset_at).toEqual(expect.stringMatching(/Z$/));
  });

  it('gives no provider of an archived integration, and gateways none that exist', async () => {
    await workspace().post('/integrations', { name: 'x', slug: 'past', ai_provider_id: 'openai' });
    const slugs = async () =>
      (await readBundle(h, h.first.workspace_id)).bundle?.providers.map((each) => each.slug);
    expect(await slugs()).toContain('past');
    await h.db.integration.updateMany({ where: { slug: 'past' }, data: { status: 'archived' } });
    expect(await slugs()).not.toContain('past');
    const refused = await workspace().post('/providers', { name: 'x', integration_id: 'past' });
    expect([refused.status, refused.body.data.field]).toEqual([400, 'body.integration_id']);
  });

  it('tells the audit log who had access before and who has it after', async () => {
    const entries = await h.db.auditEntry.findMany({
      where: { uri: { endsWith: '/granted/workspaces' }, responseStatusCode: 200 },
      orderBy: { sequence: 'asc' },
    });
    const enabled = (text: string | null) =>
      JSON.parse(text ?? '{}').workspaces.map((each: { enabled: boolean }) => each.enabled);
    expect(enabled(entries[0]?.before ?? null)).toEqual([]);
    expect(enabled(entries[0]?.after ?? null)).toEqual([true]);
    expect(enabled(entries[1]?.after ?? null)).toEqual([false]);
  });

  it('tells which limits of grants do nothing, as of all other holders', async () => {
    const body = { name: 'Idle', slug: 'idle-grants', ai_provider_id: 'openai' };
    await admin().post('/integrations', body).expect(200);
    const idle = { credit_limit: 500, type: 'tokens', unpriced: 'refuse' };
    const rate = { type: 'requests', unit: 'rpm', value: 9, estimate: 'observed' };
    const sent = {
      workspaces: [{ id: h.first.workspace_slug, enabled: true, usage_limits: [idle] }],
      global_workspace_access: { enabled: false, rate_limits: [rate] },
    };
    const path = '/integrations/idle-grants/workspaces';
    const { warnings } = (await admin().put(path, sent).expect(200)).body;
    expect(warnings.map((line: string) => line.split(':', 1)[0])).toEqual([
      'body.workspaces[0].usage_limits[0].unpriced',
      'body.global_workspace_access.rate_limits[0].estimate',
    ]);
  });

  it('opens an integration to workspaces to come', async () => {
    await admin().post('/integrations', {
      name: 'For all',
      slug: 'for-all',
      ai_provider_id: 'openai',
    });
    await admin()
      .put('/integrations/for-all/workspaces', { global_workspace_access: { enabled: true } })
      .expect(200);
    const created = await admin().post('/admin/workspaces', { name: 'Later' });
    const providers = await admin().get(`/providers?workspace_id=${created.body.id}`);
    expect(providers.body.data.map((row: { slug: string }) => row.slug)).toEqual(['for-all']);
  });
});

describe('providers', () => {
  it('go from created to deleted in the published shapes', async () => {
    await workspace().post('/integrations', {
      name: 'x',
      slug: 'source',
      ai_provider_id: 'openai',
      create_default_provider: false,
    });
    const created = await workspace().post('/providers', {
      name: 'Copy of Anthropic',
      integration_id: 'source',
      note: 'n',
      rate_limits: { type: 'requests', unit: 'rpm', value: 3 },
      usage_limits: { credit_limit: 5 },
    });
    expect(created.status).toBe(200);
    expect(created.body).toEqual({
      id: expect.any(String),
      slug: expect.stringMatching(/^copy-of-anthrop-[0-9a-f]{6}$/),
    });
    const { slug } = created.body;
    const read = await workspace().get(`/providers/${slug}`);
    expect(read.body).toMatchObject({
      name: 'Copy of Anthropic',
      integration_id: 'source',
      note: 'n',
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }],
      object: 'provider',
    });
    expect(read.body).not.toHaveProperty('id');
    const updated = await workspace().put(`/providers/${slug}`, {
      name: 'Renamed',
      rate_limits: [{ type: 'tokens', unit: 'rpd', value: 0 }],
      expires_at: '2020-01-01T00:00:00Z',
    });
    expect(updated.body).toEqual(created.body);
    expect((await workspace().get(`/providers/${slug}`)).body).toMatchObject({
      name: 'Renamed',
      status: 'expired',
      note: 'n',
    });
    expect((await workspace().delete(`/providers/${slug}`)).body).toEqual({});
    await workspace().get(`/providers/${slug}`).expect(404);
  });

  it('share no slug within a workspace, and are free to between workspaces', async () => {
    await workspace()
      .post('/providers', { name: 'x', integration_id: 'source', slug: 'twin' })
      .expect(200);
    await workspace()
      .post('/providers', { name: 'x', integration_id: 'source', slug: 'twin' })
      .expect(409);
    const second = await admin().post('/admin/workspaces', { name: 'Second' });
    await admin()
      .post('/integrations', {
        name: 'x',
        slug: 'source-b',
        ai_provider_id: 'openai',
        workspace_id: second.body.id,
        create_default_provider: false,
      })
      .expect(200);
    await admin()
      .post('/providers', {
        name: 'x',
        integration_id: 'source-b',
        slug: 'twin',
        workspace_id: second.body.id,
      })
      .expect(200);
  });

  it('carry the tags of their integration, and are found by them', async () => {
    const tags = { team: 'blue', stage: 'test' };
    await workspace()
      .post('/integrations', { name: 'x', slug: 'tagged', ai_provider_id: 'openai', tags })
      .expect(200);
    const found = await workspace().get(`/providers?tags=${JSON.stringify({ team: 'blue' })}`);
    expect(found.body).toMatchObject({ total: 1, data: [{ slug: 'tagged', tags }] });
    const none = await workspace().get(`/providers?tags=${JSON.stringify({ team: 'red' })}`);
    expect(none.body.total).toBe(0);
  });

  it('need a workspace when an organisation key asks', async () => {
    const answer = await admin().get('/providers');
    expect([answer.status, answer.body.data.field]).toEqual([400, 'query.workspace_id']);
  });

  it.each([
    ['no name', { integration_id: 'source' }, 'body.name'],
    ['no integration', { name: 'x' }, 'body.integration_id'],
    ['an unknown integration', { name: 'x', integration_id: 'none' }, 'body.integration_id'],
    [
      'a wrong limit',
      {
        name: 'x',
        integration_id: 'source',
        rate_limits: { type: 'requests', unit: 'rpm', value: -1 },
      },
      'body.rate_limits.value',
    ],
  ])('refuse %s', async (_case, body, field) => {
    const answer = await workspace().post('/providers', body);
    expect([answer.status, answer.body.data.field]).toEqual([400, field]);
  });
});

describe('trying an integration', () => {
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream();
  });
  afterAll(() => upstream.close());

  const connect = async (host: string, over: object = {}) => {
    const slug = `tried-${++tried}`;
    const configurations = { custom_host: host, custom_headers: { 'x-team': 'a' } };
    const body = {
      name: slug,
      slug,
      ai_provider_id: 'openai',
      key: 'sk-tried-0001',
      configurations,
    };
    const saved = await workspace()
      .post('/integrations', { ...body, ...over })
      .expect(200);
    return { slug, warnings: saved.body.warnings as string[] | undefined };
  };
  let tried = 0;
  const test = async (host: string, over: object = {}) => {
    const { slug } = await connect(host, over);
    return (await workspace().post(`/integrations/${slug}/test`).expect(200)).body;
  };

  it('asks for its models with the stored credential, and says which there are', async () => {
    const data = Array.from({ length: 150 }, (_, at) => ({ id: `m-${at}` }));
    upstream.handle(json(200, { object: 'list', data }));
    const told = await test(`${upstream.url}/v1/`);
    expect(told).toMatchObject({
      reachable: true,
      tested: 'models',
      status: 200,
      models_total: 150,
    });
    expect([told.models.length, told.cause]).toEqual([100, undefined]);
    const { path, headers } = upstream.requests.at(-1) ?? {};
    expect([path, headers?.authorization, headers?.['x-team']]).toEqual([
      '/v1/models',
      'Bearer sk-tried-0001',
      'a',
    ]);
    const entry = await h.db.auditEntry.findFirst({
      where: { action: 'test' },
      orderBy: { sequence: 'desc' },
    });
    expect(entry?.detail).toContain('"reachable":true');
    expect(JSON.stringify(entry, (_, each) => (typeof each === 'bigint' ? 0 : each))).not.toContain(
      'sk-tried',
    );
  });

  it.each([
    [401, 'unauthorised'],
    [404, 'not_found'],
    [302, 'redirected'],
    [500, 'failed'],
    [200, 'unreadable'],
  ])('says of a %i why not, and nothing that the provider said', async (status, cause) => {
    upstream.handle(
      json(status, { error: { message: 'sk-tried-0001 is wrong, says the provider' } }),
    );
    const told = await test(`${upstream.url}/v1`);
    expect(told).toMatchObject({ reachable: false, status, cause });
    expect(JSON.stringify(told)).not.toContain('sk-tried');
  });

  it('says which host cannot be asked, and warns when one is saved', async () => {
    expect(await test('http://127.0.0.1:47113/v1')).toMatchObject({
      reachable: false,
      cause: 'refused',
    });
    const metadata = 'http://169.254.169.254/latest';
    const { slug, warnings } = await connect(metadata);
    expect(warnings).toEqual([expect.stringContaining('body.configurations.custom_host')]);
    const told = await workspace().post(`/integrations/${slug}/test`);
    expect(told.body).toMatchObject({ reachable: false, cause: 'blocked' });
  });

  it('is warned of wherever it is saved, and nowhere else', async () => {
    const metadata = 'http://169.254.169.254/latest';
    const { slug } = await connect(`${upstream.url}/v1`);
    const named = { name: 'x', ai_provider_id: 'openai', key: 'k' };
    const custom = { configurations: { custom_host: metadata }, slug: 'm', enabled: true };
    const check = { id: 'default.webhook', parameters: { webhookURL: metadata } };
    const target = { provider: 'openai', api_key: 'k' };
    const hooks = { input_guardrails: [{ 'default.webhook': { webhookURL: metadata } }] };
    const saves: [string, string, object, string?][] = [
      [
        'post',
        '/integrations',
        {
          ...named,
          configurations: { allowed_custom_hosts: ['https://a.example.org/v1', metadata] },
        },
        'body.configurations.allowed_custom_hosts[1]',
      ],
      [
        'post',
        '/integrations',
        {
          ...named,
          ai_provider_id: 'azure-foundry',
          configurations: { azure_foundry_url: metadata },
        },
        'body.configurations.azure_foundry_url',
      ],
      [
        'put',
        `/integrations/${slug}/models`,
        {
          models: [custom],
          key: 'sk-tried-0001',
          configurations: { custom_headers: { 'x-team': 'a' } },
        },
        'body.models[0].configurations.custom_host',
      ],
      [
        'post',
        '/virtual-keys',
        { name: 'x', provider: 'openai', key: 'k', customHost: metadata },
        'body.customHost',
      ],
      [
        'post',
        '/virtual-keys',
        { name: 'x', provider: 'huggingface', key: 'k', huggingfaceBaseUrl: metadata },
        'body.huggingfaceBaseUrl',
      ],
      [
        'post',
        '/configs',
        {
          name: 'x',
          config: {
            strategy: { mode: 'fallback' },
            targets: [target, { ...target, custom_host: metadata }],
          },
        },
        'body.config.targets[1].custom_host',
      ],
      [
        'post',
        '/configs',
        { name: 'x', config: { ...target, ...hooks } },
        'body.config.input_guardrails[0].default.webhook.webhookURL',
      ],
      [
        'post',
        '/guardrails',
        { name: 'x', checks: [check], actions: { deny: true } },
        'body.checks[0].parameters.webhookURL',
      ],
      // What is sent to the provider, as it is.
      [
        'post',
        '/configs',
        {
          name: 'x',
          config: {
            ...target,
            override_params: { tools: [{ type: 'mcp', server_url: metadata }] },
          },
        },
      ],
      [
        'post',
        '/configs',
        { name: 'x', config: { ...target, custom_host: 'https://models.example.org/v1' } },
      ],
    ];
    for (const [method, path, body, field] of saves) {
      const saved = await (method === 'post'
        ? workspace().post(path, body)
        : workspace().put(path, body));
      expect([path, saved.status, saved.text]).toEqual([path, 200, saved.text]);
      const expected = field === undefined ? undefined : [`${field}: The address is not allowed.`];
      expect([path, saved.body.warnings]).toEqual([path, expected]);
    }
  });

  it('sends no credential that gateways would have to make', async () => {
    upstream.handle(json(403, {}));
    const told = await test(upstream.url, { ai_provider_id: 'bedrock' });
    expect(told).toMatchObject({ reachable: true, tested: 'host', status: 403 });
    expect(upstream.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  it('is for who may change it', async () => {
    const { slug } = await connect(`${upstream.url}/v1`);
    const key = await createServiceKey(h, h.first.workspace_id, ['workspace_integrations.read']);
    await h.as(key).post(`/integrations/${slug}/test`).expect(403);
  });
});
