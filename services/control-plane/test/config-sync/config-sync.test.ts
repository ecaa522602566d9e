import { once } from 'node:events';
import { hashServiceKey } from '@sluice/contracts';
import { config } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import { eventually } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readBundle } from '../support/bundle.ts';
import { createPerson, policyBody } from '../support/fixture.ts';
import { type Harness, startHarness, token } from '../support/harness.ts';

let h: Harness;
const watches: { cancel(): void }[] = [];
beforeAll(async () => {
  h = await startHarness();
});
afterEach(() => {
  for (const watch of watches.splice(0)) watch.cancel();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const { resolveKey, watch } = config.ConfigService.method;
const timeoutMs = 5_000;

const resolve = async (key: string) =>
  (await h.rpc.unary(resolveKey, { keyHash: hashServiceKey(key, h.env.KEY_PEPPER) }, { timeoutMs }))
    .key;
const bundle = (workspaceId = h.first.workspace_id, knownHash = '') =>
  readBundle(h, workspaceId, knownHash);

/** A watch stream, with what it has told so far. */
function openWatch(rpc = h.rpc) {
  const stream = rpc.serverStream(watch, { replicaId: 'test' });
  const events: config.WatchResponse['event'][] = [];
  stream.on('data', (message: config.WatchResponse) => events.push(message.event));
  stream.on('error', () => {});
  watches.push(stream);
  const told = (matches: (event: config.WatchResponse['event']) => boolean, timeout = 1000) =>
    eventually(() => events.some(matches), { timeoutMs: timeout, intervalMs: 5 });
  return { events, told, ready: () => told((event) => event.case === 'ready'), stream };
}

const aboutWorkspace = (id: string) => (event: config.WatchResponse['event']) =>
  event.case === 'workspaceChanged' && event.value.workspaceId === id;
const aboutKey = (id: string) => (event: config.WatchResponse['event']) =>
  event.case === 'keyChanged' && event.value.keyId === id;

describe('ResolveKey', () => {
  it('gives what the gateway needs of a key, and nothing for a hash nobody has', async () => {
    const pinned = await workspace().post('/configs', {
      name: 'Pinned',
      config: { provider: '@demo' },
    });
    const created = await workspace().post('/api-keys/workspace/service', {
      name: 'Billing job',
      scopes: ['completions.write', 'configs.list'],
      rate_limits: [{ type: 'requests', unit: 'rps', value: 5 }],
      defaults: {
        metadata: { team: 'a' },
        config_id: pinned.body.data.slug,
        allow_config_override: false,
      },
      expires_at: '2099-01-01T00:00:00Z',
    });
    expect(await resolve(created.body.key)).toMatchObject({
      id: created.body.id,
      name: 'Billing job',
      slug: expect.stringMatching(/^billing-job-[0-9a-f]{6}$/),
      type: config.KeyType.WORKSPACE_SERVICE,
      status: config.KeyStatus.ACTIVE,
      organisationId: h.first.organisation_id,
      workspaceId: h.first.workspace_id,
      workspaceSlug: h.first.workspace_slug,
      scopes: ['completions.write', 'configs.list'],
      expiresAtMs: BigInt(Date.parse('2099-01-01T00:00:00Z')),
      metadata: { team: 'a' },
      configSlug: pinned.body.data.slug,
      allowConfigOverride: false,
      rateLimits: [{ type: 'requests', unit: 'rps', value: 5n }],
    });
    expect(await resolve('sl_nobody')).toBeUndefined();
    const organisation = await resolve(h.first.admin_key);
    expect(organisation).toMatchObject({
      type: config.KeyType.ORGANISATION_SERVICE,
      workspaceId: '',
    });
  });

  it('ends both secrets of a rotated key in time', async () => {
    const created = await workspace().post('/api-keys/workspace/service', {
      name: 'x',
      scopes: ['completions.write'],
    });
    const rotated = await workspace().post(`/api-keys/${created.body.id}/rotate`);
    const [old, fresh] = [await resolve(created.body.key), await resolve(rotated.body.key)];
    expect([old?.id, fresh?.id]).toEqual([created.body.id, created.body.id]);
    expect(Number(old?.expiresAtMs)).toBe(Date.parse(rotated.body.key_transition_expires_at));
    expect(fresh?.expiresAtMs).toBe(0n);
    h.clock.offsetMs = 1_800_000 + 5_000;
    try {
      expect((await resolve(created.body.key))?.status).toBe(config.KeyStatus.EXPIRED);
    } finally {
      h.clock.offsetMs = 0;
    }
  });

  it('gives a person’s key the scopes that their role allows', async () => {
    const { key, userId } = await createPerson(h, 'member', h.first.workspace_id);
    const resolved = await resolve(key);
    expect(resolved?.userId).toBe(userId);
    expect(resolved?.scopes).toContain('completions.write');
    expect(resolved?.scopes).not.toContain('configs.create');
  });

  it('answers nobody without the token', async () => {
    const stranger = createRpcClient(config.ConfigService, {
      address: `127.0.0.1:${h.service.grpcPort}`,
      token: 'wrong',
    });
    await expect(
      stranger.unary(resolveKey, { keyHash: Buffer.alloc(32) }, { timeoutMs }),
    ).rejects.toMatchObject({ code: 16 });
    stranger.close();
  });
});

describe('GetBundle', () => {
  it('holds configs, providers with credentials in clear, policies and settings', async () => {
    await workspace().post('/integrations', {
      name: 'Main',
      slug: 'bundled',
      ai_provider_id: 'openai',
      key: 'sk-in-clear',
      configurations: {
        openai_organization: 'org',
        custom_host: 'https://h.example.org',
        custom_headers: { b: '2', a: '1' },
      },
    });
    await workspace().put('/integrations/bundled/models', {
      models: [
        {
          slug: 'm',
          enabled: true,
          is_custom: true,
          pricing_config: { pay_as_you_go: { request_token: { price: 2.5e-7 } } },
        },
      ],
    });
    const made = await workspace().post('/configs', {
      name: 'Bundled',
      config: { provider: '@bundled' },
    });
    const policy = await workspace().post('/policies/rate-limits', {
      ...policyBody,
      conditions: [{ key: 'model', value: ['@bundled/*'], excludes: 'x' }],
    });
    const { bundle: found, configs } = await bundle();
    expect(found).toMatchObject({
      workspaceId: h.first.workspace_id,
      workspaceSlug: h.first.workspace_slug,
      blockInlineConfig: false,
    });
    expect(found?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(found?.providers.find((provider) => provider.slug === 'bundled')).toMatchObject({
      provider: 'openai',
      apiKey: 'sk-in-clear',
      configurationsJson: '{"openai_organization":"org"}',
      customHost: 'https://h.example.org',
      customHeaders: { a: '1', b: '2' },
      status: 'active',
      allowAllModels: true,
      models: [
        {
          slug: 'm',
          enabled: true,
          isCustom: true,
          requestTokenPrice: '0.00000025',
          responseTokenPrice: '',
        },
      ],
    });
    expect(found?.providers.find((provider) => provider.slug === 'demo')).toMatchObject({
      provider: 'demo',
      apiKey: '',
      customHost: 'http://127.0.0.1:8799',
    });
    expect(configs.find((each) => each.id === made.body.data.id)).toMatchObject({
      slug: made.body.data.slug,
      versionId: made.body.data.version_id,
      bodyJson: '{"provider":"@bundled"}',
    });
    expect(found?.rateLimitsPolicies.find((each) => each.id === policy.body.id)).toMatchObject({
      type: 'requests',
      unit: 'rpm',
      value: 100n,
      conditions: [{ key: 'model', values: ['@bundled/*'], excludes: ['x'] }],
      groupBy: ['api_key'],
    });
    // Of tools, in a list that a gateway which knows of none does not read.
    const ofTools = await workspace().post('/policies/rate-limits', {
      target: 'mcp_tools',
      conditions: [],
      type: 'requests',
      unit: 'rpm',
      value: 5,
    });
    const tools = (await bundle()).bundle;
    expect(tools?.mcpToolsPolicies).toMatchObject([{ id: ofTools.body.id, conditions: [] }]);
    expect(tools?.rateLimitsPolicies.map(({ id }) => id)).not.toContain(ofTools.body.id);
    await workspace().delete(`/policies/rate-limits/${policy.body.id}`);
    expect((await bundle()).bundle?.rateLimitsPolicies.map((each) => each.id)).not.toContain(
      policy.body.id,
    );
  });

  it('has the same hash while nothing changes, and another with another revision when something does', async () => {
    const before = (await bundle()).bundle;
    expect((await bundle()).bundle).toEqual(before);
    const same = await bundle(undefined, before?.hash);
    expect([same.bundle, same.gone, same.unchanged]).toEqual([undefined, false, true]);
    // Keys are no part of it.
    await workspace().post('/api-keys/workspace/service', { name: 'x', scopes: ['configs.list'] });
    expect((await bundle()).bundle?.revision).toBe(before?.revision);
    await h
      .as(h.first.admin_key)
      .put(`/admin/workspaces/${h.first.workspace_slug}`, { defaults: { metadata: { a: 'b' } } });
    const after = (await bundle()).bundle;
    expect(after?.hash).not.toBe(before?.hash);
    expect(after?.revision).toBe((before?.revision ?? 0n) + 1n);
    expect(after?.metadata).toEqual({ a: 'b' });
  });

  it('names the default config of the workspace while it is active', async () => {
    const created = await workspace().post('/configs', {
      name: 'Default',
      config: { provider: '@demo' },
      isDefault: 1,
    });
    const { slug } = created.body.data;
    expect((await bundle()).bundle?.defaultConfigSlug).toBe(slug);
    await workspace().put(`/configs/${slug}`, { status: 'archived' }).expect(200);
    const archived = await bundle();
    expect(archived.bundle?.defaultConfigSlug).toBe('');
    expect(archived.configs.map((each) => each.slug)).not.toContain(slug);
  });

  it('holds every config of a workspace that has more than one read or piece takes', async () => {
    const created = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Large' });
    const row = await h.db.workspace.findFirstOrThrow({ where: { slug: created.body.id } });
    await h.db.$executeRaw`
      WITH made AS (
        INSERT INTO configs (id, organisation_id, workspace_id, slug, name, version, owner_id, updated_by)
        SELECT gen_random_uuid(), ${row.organisationId}::uuid, ${row.id}::uuid, 'pc-' || n, 'n', 1, gen_random_uuid(), gen_random_uuid()
        FROM generate_series(1, 4500) AS n
        RETURNING id, slug
      )
      INSERT INTO config_versions (id, config_id, version, name, status, body, created_by)
      SELECT gen_random_uuid(), id, 1, 'n', 'active', '{"provider":"@' || slug || '"}', gen_random_uuid() FROM made`;
    const found = (await bundle(row.id)).configs;
    expect(found).toHaveLength(4500);
    expect(new Set(found.map((each) => each.slug)).size).toBe(4500);
    for (const each of found) expect(each.bodyJson).toBe(`{"provider":"@${each.slug}"}`);
  });

  it('is gone with its workspace', async () => {
    const created = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Short' });
    const row = await h.db.workspace.findFirstOrThrow({ where: { slug: created.body.id } });
    expect((await bundle(row.id)).bundle?.workspaceName).toBe('Short');
    await h.as(h.first.admin_key).delete(`/admin/workspaces/${created.body.id}`).expect(200);
    expect((await bundle(row.id)).gone).toBe(true);
    expect((await bundle('no-uuid')).gone).toBe(true);
  });

  it('leaves out providers of an integration that was closed to the workspace', async () => {
    const admin = h.as(h.first.admin_key);
    await admin.post('/integrations', { name: 'x', slug: 'open-close', ai_provider_id: 'openai' });
    const grant = (enabled: boolean) =>
      admin
        .put('/integrations/open-close/workspaces', {
          workspaces: [
            {
              id: h.first.workspace_id,
              enabled,
              rate_limits: [{ type: 'requests', unit: 'rpm', value: 4 }],
            },
          ],
        })
        .expect(200);
    await grant(true);
    const provider = async () =>
      (await bundle()).bundle?.providers.find((each) => each.slug === 'open-close');
    expect((await provider())?.rateLimits).toMatchObject([
      { type: 'requests', unit: 'rpm', value: 4n },
    ]);
    await grant(false);
    expect(await provider()).toBeUndefined();
  });
});

describe('Watch', () => {
  it('begins with ready, and tells of a change of the workspace within a second', async () => {
    const { events, ready, told } = openWatch();
    await ready();
    expect(events[0]?.case).toBe('ready');
    const policy = await workspace().post('/policies/rate-limits', policyBody);
    await told(aboutWorkspace(h.first.workspace_id));
    events.length = 0;
    await workspace().put(`/policies/rate-limits/${policy.body.id}`, { value: 5 }).expect(200);
    await told(aboutWorkspace(h.first.workspace_id));
    const { bundle: found } = await bundle();
    expect(found?.rateLimitsPolicies.find((each) => each.id === policy.body.id)?.value).toBe(5n);
    const revisions = events.flatMap((event) =>
      event.case === 'workspaceChanged' ? [event.value.revision] : [],
    );
    expect(revisions).toEqual([found?.revision]);
  });

  it.each(['update', 'rotate', 'delete'])('tells of a key’s %s within a second', async (action) => {
    const created = await workspace().post('/api-keys/workspace/service', {
      name: 'x',
      scopes: ['completions.write'],
    });
    const { ready, told } = openWatch();
    await ready();
    const path = `/api-keys/${created.body.id}`;
    if (action === 'update') await workspace().put(path, { name: 'y' }).expect(200);
    if (action === 'rotate') await workspace().post(`${path}/rotate`).expect(200);
    if (action === 'delete') await workspace().delete(path).expect(200);
    await told(aboutKey(created.body.id));
    if (action === 'delete') expect(await resolve(created.body.key)).toBeUndefined();
  });

  it('tells nothing of a change that was refused', async () => {
    const { events, ready } = openWatch();
    await ready();
    events.length = 0;
    await workspace().put('/configs/pc-none', { name: 'x' }).expect(404);
    await workspace()
      .post('/configs', { name: 'after', config: { provider: '@demo' } })
      .expect(200);
    await eventually(() => events.length > 0);
    expect(events.filter((event) => event.case !== 'heartbeat')).toHaveLength(1);
  });

  it('tells of changes that another replica committed', async () => {
    const replica = await h.replica();
    const rpc = createRpcClient(config.ConfigService, {
      address: `127.0.0.1:${replica.grpcPort}`,
      token,
    });
    try {
      const { ready, told } = openWatch(rpc);
      await ready();
      await workspace()
        .post('/configs', { name: 'elsewhere', config: { provider: '@demo' } })
        .expect(200);
      await told(aboutWorkspace(h.first.workspace_id));
    } finally {
      rpc.close();
    }
  });

  it('says ready again when the connection to Postgres was lost, and hears on', async () => {
    const { events, ready, told } = openWatch();
    await ready();
    events.length = 0;
    await h.db
      .$queryRaw`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sluice-change-feed' AND datname = current_database()`;
    await told((event) => event.case === 'ready', 3000);
    await workspace()
      .post('/configs', { name: 'after', config: { provider: '@demo' } })
      .expect(200);
    await told(aboutWorkspace(h.first.workspace_id));
  });

  it('sends a heartbeat within its five seconds', async () => {
    const { told } = openWatch();
    await told((event) => event.case === 'heartbeat', 6000);
  });

  it('ends with the service', async () => {
    const replica = await h.replica();
    const rpc = createRpcClient(config.ConfigService, {
      address: `127.0.0.1:${replica.grpcPort}`,
      token,
    });
    const { ready, stream } = openWatch(rpc);
    await ready();
    const ended = once(stream, 'end');
    await replica.close();
    await ended;
    rpc.close();
  });
});
