import { randomUUID } from 'node:crypto';
import { scopesOf } from '@sluice/contracts';
import { expect } from 'vitest';
import type { Harness } from './harness.ts';

/** One of each resource in the first organisation's default workspace. */
export interface Fixture {
  workspaceB: { id: string; slug: string; key: string };
  configSlug: string;
  configId: string;
  integrationSlug: string;
  providerSlug: string;
  policyId: string;
  keyId: string;
  ownerId: string;
}

export const policyBody = {
  name: 'Everyone',
  conditions: [{ key: 'api_key', value: '*' }],
  group_by: [{ key: 'api_key' }],
  type: 'requests',
  unit: 'rpm',
  value: 100,
};

export async function createFixture(h: Harness): Promise<Fixture> {
  const admin = h.as(h.first.admin_key);
  const workspace = h.as(h.first.workspace_key);
  const created = await admin.post('/admin/workspaces', { name: 'Test Area' }).expect(200);
  const row = await h.db.workspace.findFirstOrThrow({ where: { slug: created.body.slug } });
  const config = await workspace
    .post('/configs', { name: 'Plain', config: { provider: '@demo' } })
    .expect(200);
  const integration = await workspace
    .post('/integrations', {
      name: 'Main OpenAI',
      ai_provider_id: 'openai',
      slug: 'main-openai',
      key: 'sk-secret-of-openai-1234',
    })
    .expect(200);
  const policy = await workspace.post('/policies/rate-limits', policyBody).expect(200);
  const owner = await h.db.user.findFirstOrThrow({
    where: { organisationId: h.first.organisation_id },
  });
  const key = await workspace
    .post('/api-keys/workspace/user', {
      name: 'Of the owner',
      scopes: ['completions.write'],
      user_id: owner.id,
    })
    .expect(200);
  return {
    workspaceB: { id: row.id, slug: row.slug, key: await createServiceKey(h, row.id) },
    configSlug: config.body.data.slug,
    configId: config.body.data.id,
    integrationSlug: integration.body.slug,
    providerSlug: 'main-openai',
    policyId: policy.body.id,
    keyId: key.body.id,
    ownerId: owner.id,
  };
}

/** A workspace service key; with every scope an organisation key can hand out, unless told otherwise. */
export async function createServiceKey(
  h: Harness,
  workspaceId: string,
  scopes?: string[],
): Promise<string> {
  const answer = await h.as(h.first.admin_key).post('/api-keys/workspace/service', {
    name: 'Service',
    workspace_id: workspaceId,
    scopes: scopes ?? [...scopesOf('workspace-service')],
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.key as string;
}

/** A member of the organisation and of the workspace, and a user key of theirs. */
export async function createPerson(
  h: Harness,
  role: 'admin' | 'manager' | 'member',
  workspaceId: string,
): Promise<{ userId: string; key: string }> {
  const userId = randomUUID();
  await h.db.user.create({
    data: {
      id: userId,
      organisationId: h.first.organisation_id,
      email: `${userId}@example.org`,
      role: 'member',
    },
  });
  await h.db.workspaceMember.create({ data: { workspaceId, userId, role } });
  const answer = await h.as(h.first.admin_key).post('/api-keys/workspace/user', {
    name: role,
    workspace_id: workspaceId,
    user_id: userId,
    scopes: [...scopesOf('workspace-user')],
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return { userId, key: answer.body.key as string };
}
