import { randomUUID } from 'node:crypto';
import {
  canonicalHeaderPrefixes,
  configCaps,
  forwardedCallerSeal,
  createServiceKey as mint,
} from '@sluice/contracts';
import { adminEndpoints, type Endpoint } from '@sluice/contracts/admin';
import { PriceBook } from '@sluice/pricing';
import type { Router } from 'express';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { type OperationParts, operationOf } from '../../src/kernel/http/operation.ts';
import { allOperations } from '../../src/operations.ts';
import { createFixture, createPerson, type Fixture } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
let f: Fixture;
beforeAll(async () => {
  h = await startHarness({ analytics: {} });
  f = await createFixture(h);
});
afterAll(() => h.stop());

const guardedIds = Object.entries<Endpoint>(adminEndpoints)
  .filter(([, endpoint]) => endpoint.access !== undefined)
  .map(([id]) => id);

describe('access', () => {
  it('is declared of every mounted route, and what declares it is mounted', () => {
    const app = createApp({
      logsRequests: false,
      logger: undefined as never,
      isOutage: () => false,
      requestContext: {
        trustedProxies: [],
        forwardedCallers: forwardedCallerSeal('a-token-shared-by-the-services'),
        headerPrefixes: canonicalHeaderPrefixes,
        isLenient: false,
      },
      publicHeaderPrefix: 'x-service-',
      publicOperations: [],
      operations: allOperations({
        client: undefined as never,
        mintKey: undefined as never,
        integrations: {} as never,
        authSettings: undefined as never,
        alertSettings: undefined as never,
        ledger: undefined as never,
        logStore: undefined,
        logExports: {} as never,
        priceBook: undefined as never,
        configCaps,
        catalogue: { has: () => true, ids: [] },
        registries: {} as never,
        simulator: undefined as never,
      }),
      operationParts: {} as OperationParts,
      priceBook: new PriceBook(),
      exportFiles: {} as never,
      otel: {} as never,
      oauth: { now: () => new Date() } as never,
      isServing: () => true,
      health: { missing: async () => [] },
    });
    const { guarded, open } = walk(app.router);
    expect(open.sort()).toEqual([
      // Clients of MCP, and the people behind them, prove themselves as RFC 6749 says.
      '/.well-known/jwks.json',
      '/.well-known/oauth-authorization-server{/*path}',
      '/.well-known/oauth-protected-resource/*path',
      '/docs',
      '/docs/start.js',
      '/docs/swagger-ui-bundle.js',
      '/docs/swagger-ui.css',
      '/health',
      '/health/live',
      '/health/ready',
      '/model-configs/general/:provider/*model',
      '/model-configs/pricing/:provider/*model',
      '/oauth/:server/authorize',
      '/oauth/:server/authorize',
      '/oauth/:workspace/:server/authorize',
      '/oauth/:workspace/:server/authorize',
      '/oauth/authorize',
      '/oauth/authorize',
      '/oauth/authorize/:uid',
      '/oauth/external-callback',
      '/oauth/interaction/:uid',
      '/oauth/interaction/:uid',
      '/oauth/introspect',
      '/oauth/register',
      '/oauth/revoke',
      '/oauth/token',
      // People on their way to sign in at an MCP server, and back.
      '/oauth/upstream-auth',
      '/oauth/upstream-auth',
      '/oauth/upstream-callback',
      '/oauth/upstream-client',
      '/v1/docs',
      // Whoever has a signed address.
      '/v1/logs/exports/:exportId/file',
      '/v1/openapi.json',
      // These ask for a key themselves, and answer as OTLP does.
      '/v1/otel/v1/logs',
      '/v1/otel/v1/traces',
    ]);
    expect(guarded.sort()).toEqual(guardedIds.sort());
  });

  it('records every operation that is not a GET, and no other; feedback and logs of one’s own are no administration, what is compared changes nothing', () => {
    for (const operation of Object.values(
      allOperations({
        client: undefined as never,
        mintKey: undefined as never,
        integrations: {} as never,
        authSettings: undefined as never,
        alertSettings: undefined as never,
        ledger: undefined as never,
        logStore: undefined,
        logExports: {} as never,
        priceBook: undefined as never,
        configCaps,
        catalogue: { has: () => true, ids: [] },
        registries: {} as never,
        simulator: undefined as never,
      }),
    ))
      expect(operation.endpoint.audit !== undefined, operation.id).toBe(
        operation.endpoint.method !== 'get' &&
          !operation.id.startsWith('feedback.') &&
          !['logs.create', 'ledger.imports.create', 'simulations.create'].includes(operation.id),
      );
  });
});

describe('what belongs to others', () => {
  it('overrides the workspace that a workspace key names', async () => {
    const answer = await h.as(f.workspaceB.key).post('/configs?allow_missing=true', {
      name: 'Mine',
      config: { provider: '@demo' },
      workspace_id: h.first.workspace_id,
    });
    const row = await h.db.config.findUniqueOrThrow({ where: { id: answer.body.data.id } });
    expect(row.workspaceId).toBe(f.workspaceB.id);
    await h.as(f.workspaceB.key).delete(`/configs/${row.slug}`).expect(200);
  });
});

describe('an organisation key', () => {
  it('acts in the workspace that it names, of which body and query say the same', async () => {
    const admin = h.as(h.first.admin_key);
    const there = `?workspace_id=${f.workspaceB.slug}`;
    await admin.put(`/api-keys/${f.keyId}${there}`, { description: 'x' }).expect(404);
    const here = { workspace_id: h.first.workspace_id };
    await admin.put(`/api-keys/${f.keyId}`, { description: 'x', ...here }).expect(200);
    const body = { name: 'Two', config: { provider: '@demo' }, ...here };
    await admin
      .post(`/configs?allow_missing=true&workspace_id=${h.first.workspace_slug}`, body)
      .expect(200);
    const answer = await admin.post(`/configs${there}&allow_missing=true`, body).expect(400);
    expect(answer.body.data).toMatchObject({
      field: 'query.workspace_id',
      message: expect.stringContaining('another workspace than body.workspace_id'),
    });
  });

  it('lists where it names a workspace what that one has', async () => {
    const admin = h.as(h.first.admin_key);
    const listed = await admin.get(`/admin/workspaces?workspace_id=${f.workspaceB.id}`).expect(200);
    expect(listed.body.data.map(({ slug }: { slug: string }) => slug)).toEqual([f.workspaceB.slug]);
  });
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
      const asked = await questions(() => h.as(key).get('/configs').expect(401));
      expect(asked).toEqual([]);
    },
  );

  it.each(['admin_key', 'workspace_key'] as const)(
    'are looked up with one question to the database: %s',
    async (name) => {
      const key = h.first[name];
      const asked = await questions(() => h.as(key).get('/configs?page_size=-1').expect(400));
      expect(asked).toEqual([expect.stringContaining('api_key_secrets')]);
    },
  );
});

/** What the database was asked meanwhile about who is who. */
async function questions(work: () => PromiseLike<unknown>): Promise<string[]> {
  const query = vi.spyOn(Client.prototype, 'query');
  try {
    await work();
    return query.mock.calls
      .map(([asked]) => (typeof asked === 'string' ? asked : (asked as { text: string }).text))
      .filter((text) => /api_key|users|workspace|organisations/.test(text));
  } finally {
    query.mockRestore();
  }
}

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
