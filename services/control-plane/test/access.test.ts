import { randomUUID } from 'node:crypto';
import { canonicalHeaderPrefixes, createServiceKey as mint } from '@sluice/contracts';
import type { Router } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../src/app.ts';
import { type OperationId, operations } from '../src/authorisation/table.ts';
import { type OperationParts, operationOf } from '../src/http/operation.ts';
import { allOperations } from '../src/operations.ts';
import {
  createFixture,
  createPerson,
  createServiceKey,
  type Fixture,
  policyBody,
} from './fixture.ts';
import { type Harness, startHarness } from './harness.ts';

let h: Harness;
let f: Fixture;
let narrow: string;
beforeAll(async () => {
  h = await startHarness({ analytics: {} });
  f = await createFixture(h);
  narrow = await createServiceKey(h, h.first.workspace_id, ['virtual_keys.copy']);
});
afterAll(() => h.stop());

const range =
  'time_of_generation_min=2025-01-01T00:00:00Z&time_of_generation_max=2025-01-02T00:00:00Z';

/** A good request for every operation; `own` marks those aimed at one resource of the first workspace. */
const samples: Record<
  string,
  (f: Fixture) => {
    method: 'get' | 'post' | 'put' | 'delete';
    path: string;
    body?: object;
    own?: true;
  }
> = {
  'api-keys.create': () => ({
    method: 'post',
    path: '/api-keys/workspace/service',
    body: { name: 'x', scopes: ['completions.write'] },
  }),
  'api-keys.list': () => ({ method: 'get', path: '/api-keys' }),
  'api-keys.read': (f) => ({ method: 'get', path: `/api-keys/${f.keyId}`, own: true }),
  'api-keys.update': (f) => ({
    method: 'put',
    path: `/api-keys/${f.keyId}`,
    body: { name: 'y' },
    own: true,
  }),
  'api-keys.rotate': (f) => ({ method: 'post', path: `/api-keys/${f.keyId}/rotate`, own: true }),
  'api-keys.delete': (f) => ({ method: 'delete', path: `/api-keys/${f.keyId}`, own: true }),
  'workspaces.create': () => ({ method: 'post', path: '/admin/workspaces', body: { name: 'x' } }),
  'workspaces.list': () => ({ method: 'get', path: '/admin/workspaces' }),
  'workspaces.read': () => ({
    method: 'get',
    path: `/admin/workspaces/${h.first.workspace_slug}`,
    own: true,
  }),
  'workspaces.update': () => ({
    method: 'put',
    path: `/admin/workspaces/${h.first.workspace_id}`,
    body: { name: 'y' },
    own: true,
  }),
  'workspaces.delete': (f) => ({
    method: 'delete',
    path: `/admin/workspaces/${f.workspaceB.slug}`,
    own: true,
  }),
  'configs.create': () => ({
    method: 'post',
    path: '/configs',
    body: { name: 'x', config: { provider: '@demo' } },
  }),
  'configs.list': () => ({ method: 'get', path: '/configs' }),
  'configs.read': (f) => ({ method: 'get', path: `/configs/${f.configSlug}`, own: true }),
  'configs.versions': (f) => ({
    method: 'get',
    path: `/configs/${f.configSlug}/versions`,
    own: true,
  }),
  'configs.update': (f) => ({
    method: 'put',
    path: `/configs/${f.configSlug}`,
    body: { name: 'y' },
    own: true,
  }),
  'configs.delete': (f) => ({ method: 'delete', path: `/configs/${f.configSlug}`, own: true }),
  'integrations.create': () => ({
    method: 'post',
    path: '/integrations',
    body: { name: 'x', ai_provider_id: 'openai' },
  }),
  'integrations.list': () => ({ method: 'get', path: '/integrations' }),
  'integrations.read': (f) => ({
    method: 'get',
    path: `/integrations/${f.integrationSlug}`,
    own: true,
  }),
  'integrations.update': (f) => ({
    method: 'put',
    path: `/integrations/${f.integrationSlug}`,
    body: { name: 'y' },
    own: true,
  }),
  'integrations.models.list': (f) => ({
    method: 'get',
    path: `/integrations/${f.integrationSlug}/models`,
    own: true,
  }),
  'integrations.models.update': (f) => ({
    method: 'put',
    path: `/integrations/${f.integrationSlug}/models`,
    body: { models: [] },
    own: true,
  }),
  'integrations.models.delete': (f) => ({
    method: 'delete',
    path: `/integrations/${f.integrationSlug}/models?slugs=a`,
    own: true,
  }),
  'integrations.workspaces.list': (f) => ({
    method: 'get',
    path: `/integrations/${f.integrationSlug}/workspaces`,
    own: true,
  }),
  'integrations.workspaces.update': (f) => ({
    method: 'put',
    path: `/integrations/${f.integrationSlug}/workspaces`,
    body: { workspaces: [] },
    own: true,
  }),
  'integrations.delete': (f) => ({
    method: 'delete',
    path: `/integrations/${f.integrationSlug}`,
    own: true,
  }),
  'providers.create': (f) => ({
    method: 'post',
    path: '/providers',
    body: { name: 'x', integration_id: f.integrationSlug },
  }),
  'providers.list': () => ({ method: 'get', path: '/providers' }),
  'providers.read': (f) => ({ method: 'get', path: `/providers/${f.providerSlug}`, own: true }),
  'providers.update': (f) => ({
    method: 'put',
    path: `/providers/${f.providerSlug}`,
    body: { note: 'y' },
    own: true,
  }),
  'providers.delete': (f) => ({
    method: 'delete',
    path: `/providers/${f.providerSlug}`,
    own: true,
  }),
  'rate-limits-policies.create': () => ({
    method: 'post',
    path: '/policies/rate-limits',
    body: policyBody,
  }),
  'rate-limits-policies.list': () => ({ method: 'get', path: '/policies/rate-limits' }),
  'rate-limits-policies.read': (f) => ({
    method: 'get',
    path: `/policies/rate-limits/${f.policyId}`,
    own: true,
  }),
  'rate-limits-policies.update': (f) => ({
    method: 'put',
    path: `/policies/rate-limits/${f.policyId}`,
    body: { value: 5 },
    own: true,
  }),
  'rate-limits-policies.delete': (f) => ({
    method: 'delete',
    path: `/policies/rate-limits/${f.policyId}`,
    own: true,
  }),
  'audit-logs.list': () => ({
    method: 'get',
    path: '/audit-logs?start_time=2025-01-01&end_time=2099-01-01',
  }),
  'analytics.graphs.requests': () => ({
    method: 'get',
    path: `/analytics/graphs/requests?${range}`,
  }),
  'analytics.graphs.cost': () => ({ method: 'get', path: `/analytics/graphs/cost?${range}` }),
  'analytics.graphs.tokens': () => ({ method: 'get', path: `/analytics/graphs/tokens?${range}` }),
  'analytics.graphs.latency': () => ({ method: 'get', path: `/analytics/graphs/latency?${range}` }),
  'analytics.groups.ai-models': () => ({
    method: 'get',
    path: `/analytics/groups/ai-models?${range}`,
  }),
};

const ids = Object.keys(samples) as OperationId[];

function send(key: string | undefined, id: OperationId) {
  const { method, path, body } = (samples[id] as NonNullable<(typeof samples)[string]>)(f);
  const caller = h.as(key);
  return method === 'get' || method === 'delete'
    ? caller[method](path)
    : caller[method](path, body);
}

describe('the authorisation table', () => {
  it('has an entry for every mounted route, and a route for every entry', () => {
    const app = createApp({
      logger: undefined as never,
      trustedProxies: [],
      headerPrefixes: canonicalHeaderPrefixes,
      publicHeaderPrefix: 'x-service-',
      publicOperations: [],
      operations: allOperations({
        mintKey: undefined as never,
        integrations: {} as never,
        authSettings: undefined as never,
        ledger: undefined as never,
        registries: {} as never,
      }),
      operationParts: {} as OperationParts,
      health: { metrics: undefined, missing: async () => [] },
    });
    const { guarded, open } = walk(app.router);
    expect(open.sort()).toEqual([
      '/docs',
      '/docs/start.js',
      '/docs/swagger-ui-bundle.js',
      '/docs/swagger-ui.css',
      '/health',
      '/health/live',
      '/health/ready',
      '/model-configs/general/:provider/*model',
      '/model-configs/pricing/:provider/*model',
      '/v1/docs',
      '/v1/openapi.json',
    ]);
    expect(guarded.sort()).toEqual([...ids].sort());
  });

  it('records every operation that is not a GET, and no other; feedback is no administration', () => {
    for (const operation of allOperations({
      mintKey: undefined as never,
      integrations: {} as never,
      authSettings: undefined as never,
      ledger: undefined as never,
      registries: {} as never,
    }))
      expect('audit' in operations[operation.id], operation.id).toBe(
        operation.method !== 'get' && !operation.id.startsWith('feedback.'),
      );
  });
});

describe('every operation', () => {
  it.each(ids)('%s is refused without a key', async (id) => {
    const answer = await send(undefined, id);
    expect([answer.status, answer.body.success, answer.body.data.errorCode]).toEqual([
      401,
      false,
      'AB05',
    ]);
  });

  it.each(ids)('%s is refused with a key that nobody has', async (id) => {
    const answer = await send(mint('sl_'), id);
    expect([answer.status, answer.body.data.errorCode]).toEqual([401, 'AB05']);
  });

  it.each(ids)('%s is refused without its scope', async (id) => {
    const answer = await send(narrow, id);
    expect([answer.status, answer.body.data.errorCode]).toEqual([403, 'AB03']);
  });

  it.each(
    ids.filter((id) => ['workspaces.create', 'workspaces.delete', 'audit-logs.list'].includes(id)),
  )('%s is refused to workspace keys', async (id) => {
    const answer = await send(h.first.workspace_key, id);
    expect([answer.status, answer.body.data.code]).toEqual([403, 'auth.wrong_key_type']);
  });
});

describe('what belongs to others', () => {
  const aimed = () => ids.filter((id) => samples[id]?.(placeholder).own === true);
  const placeholder = { workspaceB: { id: '', slug: '', key: '' } } as Fixture;

  beforeAll(() => {
    expect(aimed().length).toBeGreaterThan(20);
  });

  it.each(ids)('%s does not reach into another organisation', async (id) => {
    const before = await contents();
    const sample = (samples[id] as NonNullable<(typeof samples)[string]>)(f);
    const answer = await send(h.other.admin_key, id);
    if (sample.own) {
      // Organisation keys must name a workspace for providers; naming the first one's is no way in either.
      expect([400, 404]).toContain(answer.status);
      const path = `${sample.path}${sample.path.includes('?') ? '&' : '?'}workspace_id=${h.first.workspace_id}`;
      const named = h.as(h.other.admin_key);
      const again = await (sample.method === 'get' || sample.method === 'delete'
        ? named[sample.method](path)
        : named[sample.method](path, sample.body));
      expect(again.status).toBe(404);
    }
    expect(JSON.stringify(answer.body)).not.toContain(h.first.organisation_id);
    expect(await contents()).toEqual(before);
  });

  it.each(ids)('%s does not reach into another workspace of the organisation', async (id) => {
    const before = await contents();
    const sample = (samples[id] as NonNullable<(typeof samples)[string]>)(f);
    if (sample.own !== true || id === 'workspaces.delete') return;
    const path = `${sample.path}${sample.path.includes('?') ? '&' : '?'}workspace_id=${h.first.workspace_id}`;
    const caller = h.as(f.workspaceB.key);
    const answer = await (sample.method === 'get' || sample.method === 'delete'
      ? caller[sample.method](path)
      : caller[sample.method](path, sample.body));
    expect([403, 404], `${answer.status}`).toContain(answer.status);
    expect(await contents()).toEqual(before);
  });

  it('overrides the workspace that a workspace key names', async () => {
    const answer = await h.as(f.workspaceB.key).post('/configs', {
      name: 'Mine',
      config: { provider: '@demo' },
      workspace_id: h.first.workspace_id,
    });
    const row = await h.db.config.findUniqueOrThrow({ where: { id: answer.body.data.id } });
    expect(row.workspaceId).toBe(f.workspaceB.id);
    await h.as(f.workspaceB.key).delete(`/configs/${row.slug}`).expect(200);
  });

  /** All that the first workspace holds, for seeing that a refused request changed nothing. */
  async function contents() {
    const where = { workspaceId: h.first.workspace_id };
    return {
      workspace: (await h.db.workspace.findUniqueOrThrow({ where: { id: h.first.workspace_id } }))
        .name,
      keys: await h.db.apiKey.findMany({
        where,
        include: { secrets: true },
        orderBy: { id: 'asc' },
      }),
      configs: await h.db.config.findMany({ where, orderBy: { id: 'asc' } }),
      integrations: await h.db.integration.findMany({ where, orderBy: { id: 'asc' } }),
      providers: await h.db.provider.findMany({ where, orderBy: { id: 'asc' } }),
      policies: await h.db.rateLimitsPolicy.findMany({ where, orderBy: { id: 'asc' } }),
    };
  }
});

describe('roles', () => {
  it('let a member look, and change nothing, whatever their key was given', async () => {
    const { key } = await createPerson(h, 'member', h.first.workspace_id);
    await h.as(key).get('/configs').expect(200);
    await h
      .as(key)
      .post('/configs', { name: 'x', config: { provider: '@demo' } })
      .expect(403);
    await h.as(key).put(`/configs/${f.configSlug}`, { name: 'x' }).expect(403);
    await h.as(key).delete(`/policies/rate-limits/${f.policyId}`).expect(403);
  });

  it('let a manager change resources, but not the workspace', async () => {
    const { key } = await createPerson(h, 'manager', h.first.workspace_id);
    await h.as(key).put(`/configs/${f.configSlug}`, { name: 'Managed' }).expect(200);
    await h.as(key).put(`/admin/workspaces/${h.first.workspace_slug}`, { name: 'x' }).expect(403);
  });

  it('end with the membership', async () => {
    const { key, userId } = await createPerson(h, 'manager', h.first.workspace_id);
    await h.as(key).get('/configs').expect(200);
    await h.db.workspaceMember.deleteMany({ where: { userId } });
    await h.as(key).get('/configs').expect(403);
  });
});

describe('credentials', () => {
  it('are taken from a bearer token when the key header is absent', async () => {
    await h
      .as(undefined)
      .get('/configs')
      .set('authorization', `Bearer ${h.first.workspace_key}`)
      .expect(200);
    await h
      .as(mint('sl_'))
      .get('/configs')
      .set('authorization', `Bearer ${h.first.workspace_key}`)
      .expect(401);
  });

  it.each(['', 'x', 'sl_', 'Bearer', `${'a'.repeat(300)}`, randomUUID()])(
    '%j is refused without asking the database',
    async (key) => {
      await h.as(key).get('/configs').expect(401);
    },
  );
});

interface Layer {
  handle: unknown;
  route?: { path: string | string[]; stack: { handle: never }[] };
}

/** Every route below a router: the operations behind guarded ones, the paths of the others. */
function walk(router: Router): { guarded: string[]; open: string[] } {
  const guarded: string[] = [];
  const open: string[] = [];
  for (const layer of router.stack as unknown as Layer[]) {
    if (layer.route !== undefined) {
      const id = layer.route.stack
        .map((each) => operationOf.get(each.handle))
        .find((each) => each !== undefined);
      if (id === undefined) open.push(...[layer.route.path].flat());
      else guarded.push(id);
    } else if (typeof layer.handle === 'function' && 'stack' in layer.handle) {
      const below = walk(layer.handle as unknown as Router);
      guarded.push(...below.guarded);
      open.push(...below.open);
    }
  }
  return { guarded, open };
}
