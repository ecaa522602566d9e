import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCredentialVault } from '../../src/kernel/credentials/envelope.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { holdsInClear } from '../support/holds-in-clear.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);
const path = '/secret-references';
const awsSecret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const accessKey = {
  aws_auth_type: 'accessKey',
  aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  aws_secret_access_key: awsSecret,
  aws_region: 'eu-central-1',
};
const body = {
  name: 'OpenAI of production',
  manager_type: 'aws_sm',
  auth_config: accessKey,
  secret_path: 'prod/openai',
};

async function create(change: object = {}): Promise<{ id: string; slug: string }> {
  const answer = await admin().post(path, { ...body, ...change });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

async function detail(id: string) {
  return (await admin().get(`${path}/${id}`).expect(200)).body;
}

/** What is sealed in the row, as whoever resolves the secret will open it. */
async function storedAuth(id: string) {
  const row = await h.db.secretReference.findUniqueOrThrow({ where: { id } });
  const vault = createCredentialVault(h.env.MASTER_KEY);
  return JSON.parse(
    vault.open(Buffer.from(row.sealedAuthConfig), { table: 'secret_references', id }),
  );
}

describe('secret references', () => {
  it('are found by id and slug, in the published shapes', async () => {
    const made = await admin().post(path, {
      ...body,
      slug: 'prod-openai',
      description: 'The one key',
      secret_key: 'api_key',
      tags: { team: 'search' },
    });
    expect(made.body).toEqual({
      id: expect.any(String),
      slug: 'prod-openai',
      object: 'secret-reference',
      warnings: ['body: is kept, and does nothing yet: secret managers are not asked'],
    });
    const expected = {
      id: made.body.id,
      organisation_id: h.first.organisation_id,
      name: 'OpenAI of production',
      slug: 'prod-openai',
      description: 'The one key',
      manager_type: 'aws_sm',
      secret_path: 'prod/openai',
      secret_key: 'api_key',
      allow_all_workspaces: true,
      tags: { team: 'search' },
      status: 'ACTIVE',
      created_by: expect.any(String),
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
      auth_config: {
        aws_auth_type: 'accessKey',
        masked_aws_access_key_id: expect.stringMatching(/^AK\*+LE$/),
        masked_aws_secret_access_key: expect.stringMatching(/^wJ\*+EY$/),
        aws_region: 'eu-central-1',
      },
      object: 'secret-reference',
    };
    expect(await detail(made.body.id)).toEqual(expected);
    expect(await detail('prod-openai')).toEqual(expected);
    const list = await admin().get(`${path}?search=PRODUCTION`).expect(200);
    expect(list.body).toEqual({
      object: 'list',
      total: 1,
      data: [
        {
          id: made.body.id,
          name: 'OpenAI of production',
          slug: 'prod-openai',
          manager_type: 'aws_sm',
          status: 'ACTIVE',
          created_at: expect.any(String),
          last_updated_at: expect.any(String),
          object: 'secret-reference',
        },
      ],
    });
  });

  it('are listed by manager, tags and name, a % in which is no pattern', async () => {
    const vault = await create({
      name: '100% vault',
      manager_type: 'hashicorp_vault',
      auth_config: {
        vault_auth_type: 'token',
        vault_addr: 'https://vault.example',
        vault_token: 'hvs.1234567890123456',
      },
      tags: { team: 'ads', stage: 'prod' },
    });
    await create({ name: 'Hundred', tags: { team: 'ads' } });
    const ids = async (query: string) =>
      (await admin().get(`${path}?${query}`).expect(200)).body.data.map(
        (row: { id: string }) => row.id,
      );
    expect(await ids('manager_type=hashicorp_vault')).toEqual([vault.id]);
    expect(await ids(`tags=${encodeURIComponent('{"team":"ads","stage":"prod"}')}`)).toEqual([
      vault.id,
    ]);
    expect(await ids(`search=${encodeURIComponent('100%')}`)).toEqual([vault.id]);
    expect(await ids(`search=${encodeURIComponent('%')}`)).toEqual([vault.id]);
    await admin().get(`${path}?tags=team`).expect(400);
    await admin().get(`${path}?page_size=101`).expect(400);
  });

  it.each([
    ['no settings', 'aws_sm', { aws_auth_type: 'accessKey' }, 'body.auth_config.aws_access_key_id'],
    ["another manager's settings", 'azure_kv', accessKey, 'body.auth_config.azure_auth_mode'],
    ['an unknown way', 'aws_sm', { aws_auth_type: 'magic' }, 'body.auth_config.aws_auth_type'],
    [
      'an address that is none',
      'hashicorp_vault',
      { vault_auth_type: 'kubernetes', vault_role: 'reader', vault_addr: 'vault' },
      'body.auth_config.vault_addr',
    ],
    ['an unknown manager', 'gcp', accessKey, 'body.manager_type'],
  ])('cannot be made with %s', async (_case, manager, auth, field) => {
    const answer = await admin().post(path, { ...body, manager_type: manager, auth_config: auth });
    expect([answer.status, answer.body.data.errorCode, answer.body.data.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
  });

  it('mask the role and the external id, and can do without a region of their own', async () => {
    const role = await create({
      auth_config: {
        aws_auth_type: 'assumedRole',
        aws_role_arn: 'arn:aws:iam::123456789012:role/reader',
        aws_external_id: 'short',
        aws_region: 'us-east-1',
      },
    });
    expect((await detail(role.id)).auth_config).toEqual({
      aws_auth_type: 'assumedRole',
      masked_aws_role_arn: expect.stringMatching(/^ar\*+er$/),
      masked_aws_external_id: '*******',
      aws_region: 'us-east-1',
    });
    const service = await create({ auth_config: { aws_auth_type: 'serviceRole' } });
    expect((await detail(service.id)).auth_config).toEqual({ aws_auth_type: 'serviceRole' });
  });

  it('take a change of the sign-in into what is stored, and check the whole', async () => {
    const { id } = await create();
    const shown = (await detail(id)).auth_config;
    await admin()
      .put(`${path}/${id}`, {
        auth_config: {
          ...shown,
          aws_secret_access_key: shown.masked_aws_secret_access_key,
        },
      })
      .expect(200, {});
    expect(await storedAuth(id)).toEqual(accessKey);
    await admin()
      .put(`${path}/${id}`, { auth_config: { ...accessKey, aws_region: 'us-west-2' } })
      .expect(200, {});
    expect(await storedAuth(id)).toEqual({ ...accessKey, aws_region: 'us-west-2' });

    const half = { auth_config: { aws_auth_type: 'assumedRole' } };
    const refused = await admin().put(`${path}/${id}`, half).expect(400);
    expect(refused.body.data.field).toBe('body.auth_config.aws_role_arn');
    await admin()
      .put(`${path}/${id}`, { auth_config: { aws_region: null } })
      .expect(400);
    expect(await storedAuth(id)).toEqual({ ...accessKey, aws_region: 'us-west-2' });

    const whole = { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::1:role/reader' };
    await admin().put(`${path}/${id}`, { auth_config: whole }).expect(200);
    expect(await storedAuth(id)).toEqual({ ...whole, aws_region: 'us-west-2' });
  });

  it('are open to all workspaces or to those that are named', async () => {
    const second = await admin().post('/admin/workspaces', { name: 'Second' }).expect(200);
    const both = { allow_all_workspaces: true, allowed_workspaces: [h.first.workspace_slug] };
    await admin()
      .post(path, { ...body, ...both })
      .expect(400);
    await admin()
      .post(path, { ...body, allow_all_workspaces: false })
      .expect(400);
    const stranger = { allowed_workspaces: [h.other.workspace_id] };
    expect(
      (
        await admin()
          .post(path, { ...body, ...stranger })
          .expect(400)
      ).body.data.field,
    ).toBe('body.allowed_workspaces[0]');

    const { id } = await create({
      allowed_workspaces: [h.first.workspace_slug, h.first.workspace_id],
    });
    expect(await detail(id)).toMatchObject({
      allow_all_workspaces: false,
      allowed_workspaces: [h.first.workspace_id],
    });
    const one = `${path}/${id}`;
    await admin().put(one, { allow_all_workspaces: true }).expect(200);
    expect(await detail(id)).not.toHaveProperty('allowed_workspaces');
    expect(await h.db.secretReferenceWorkspace.count({ where: { secretReferenceId: id } })).toBe(0);
    await admin().put(one, { allow_all_workspaces: false }).expect(400);
    await admin().put(one, both).expect(400);
    await admin()
      .put(one, { allowed_workspaces: [second.body.slug] })
      .expect(200);
    expect((await detail(id)).allow_all_workspaces).toBe(false);
    expect((await detail(id)).allowed_workspaces).toHaveLength(1);
  });

  it('keep what a change leaves out, clear what it makes null, and refuse one that says nothing', async () => {
    const { id } = await create({ description: 'Old', secret_key: 'k', tags: { a: 'b' } });
    const one = `${path}/${id}`;
    await admin().put(one, { name: 'New' }).expect(200);
    expect(await detail(id)).toMatchObject({ name: 'New', description: 'Old', secret_key: 'k' });
    await admin().put(one, { description: null, secret_key: null, tags: null }).expect(200);
    expect(await detail(id)).toMatchObject({ description: null, secret_key: null, tags: null });
    await admin().put(one, {}).expect(400);
    await admin().put(one, { colour: 'red' }).expect(400);
    await admin().put(one, { manager_type: 'azure_kv' }).expect(400);
  });

  it('have slugs of their own within the organisation', async () => {
    await create({ slug: 'taken' });
    const again = await admin().post(path, { ...body, slug: 'taken' });
    expect([again.status, again.body.data.errorCode, again.body.data.field]).toEqual([
      400,
      'AB01',
      'body.slug',
    ]);
    await h
      .as(h.other.admin_key)
      .post(path, { ...body, slug: 'taken' })
      .expect(200);
    expect((await create()).slug).toMatch(/^openai-of-produ-[0-9a-f]{6}$/);
  });

  it('cannot be deleted while an integration names them, by slug or id', async () => {
    const { id, slug } = await create();
    const integration = await admin()
      .post('/integrations', { name: 'Uses', ai_provider_id: 'openai' })
      .expect(200);
    for (const name of [id, slug]) {
      await h.db.integration.update({
        where: { id: integration.body.id },
        data: { secretMappings: [{ target_field: 'key', secret_reference_id: name }] },
      });
      const refused = await admin().delete(`${path}/${id}`);
      expect([refused.status, refused.body.data.code]).toEqual([400, 'admin.refused']);
    }
    await h.db.integration.update({
      where: { id: integration.body.id },
      data: { secretMappings: [] },
    });
    await admin().delete(`${path}/${slug}`).expect(200, {});
    await admin().get(`${path}/${id}`).expect(404);
    await admin().delete(`${path}/${id}`).expect(404);
  });

  it('do not exist for another organisation, and are not for workspace keys', async () => {
    const { id, slug } = await create();
    const stranger = h.as(h.other.admin_key);
    for (const reference of [id, slug]) {
      await stranger.get(`${path}/${reference}`).expect(404);
      await stranger.put(`${path}/${reference}`, { name: 'Mine' }).expect(404);
      await stranger.delete(`${path}/${reference}`).expect(404);
    }
    expect((await stranger.get(`${path}?search=production`)).body.data).not.toContainEqual(
      expect.objectContaining({ id }),
    );
    await h.as(h.first.workspace_key).get(path).expect(403);
  });

  it('leave no secret in clear in the database, and are audited with what was and is', async () => {
    const { id } = await create({ name: 'Audited' });
    await admin().put(`${path}/${id}`, { secret_path: 'prod/other' }).expect(200);
    await admin().delete(`${path}/${id}`).expect(200);
    const entries = await h.db.auditEntry.findMany({
      where: { resourceId: id },
      orderBy: { sequence: 'asc' },
    });
    expect(entries.map((entry) => entry.action)).toEqual(['create', 'update', 'delete']);
    const [created, updated, deleted] = entries;
    expect(created).toMatchObject({ resourceType: 'secret_references', before: null });
    expect(JSON.parse(updated?.before ?? '')).toMatchObject({ secret_path: 'prod/openai' });
    expect(JSON.parse(updated?.after ?? '')).toMatchObject({ secret_path: 'prod/other' });
    expect(JSON.parse(deleted?.before ?? '')).toMatchObject({ name: 'Audited' });
    await create({ name: 'Kept' });
    const tables = ['audit_entries', 'secret_references'];
    expect(await holdsInClear(h, tables, 'Kept')).toBe(true);
    expect(await holdsInClear(h, tables, awsSecret)).toBe(false);
    expect(await holdsInClear(h, tables, accessKey.aws_access_key_id)).toBe(false);
  });
});
