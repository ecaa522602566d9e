import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const admin = () => h.as(h.first.admin_key);

const key = 'sk-of-a-virtual-key-01';
const mappingsDoNothing = expect.stringMatching(
  /^body\.secret_mappings: is kept, and does nothing yet: /,
);
async function create(body: { secret_mappings?: object[]; [field: string]: unknown } = {}) {
  const answer = await workspace().post('/virtual-keys', {
    name: 'Main',
    provider: 'open-ai',
    key,
    ...body,
  });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toEqual({
    success: true,
    data: { slug: expect.stringMatching(/^[a-z-]+-[0-9a-f]{6}$/) },
    ...(body.secret_mappings && { warnings: [mappingsDoNothing] }),
  });
  return answer.body.data.slug as string;
}

async function auditOf(slug: string, action: string) {
  const { id } = (await h.db.provider.findFirst({ where: { slug } })) ?? {};
  const entry = await h.db.auditEntry.findFirstOrThrow({
    where: {
      resourceType: 'virtual_keys',
      action,
      ...(id === undefined ? {} : { resourceId: id }),
    },
    orderBy: { sequence: 'desc' },
  });
  return {
    before: entry.before === null ? null : JSON.parse(entry.before),
    after: entry.after === null ? null : JSON.parse(entry.after),
    text: JSON.stringify({ ...entry, sequence: Number(entry.sequence) }),
  };
}

describe('virtual keys', () => {
  it('are a provider and an integration of its own, made, changed and removed in one step', async () => {
    const slug = await create({
      note: 'n',
      usage_limits: { credit_limit: 5, next_usage_reset_at: '2099-05-05T17:00:00Z' },
      rate_limits: { type: 'requests', unit: 'rpm', value: 3 },
      openaiProject: 'p',
    });
    const read = await workspace().get(`/virtual-keys/${slug}`).expect(200);
    expect(read.body).toMatchObject({
      name: 'Main',
      slug,
      note: 'n',
      status: 'active',
      provider: 'openai',
      integration_id: slug,
      masked_key: 'sk*******01',
      model_config: { openaiProject: 'p' },
      usage_limits: {
        credit_limit: 5,
        type: 'cost',
        next_usage_reset_at: '2099-05-05T00:00:00.000Z',
      },
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }],
      secret_mappings: [],
      object: 'virtual-key',
    });
    expect((await workspace().get(`/providers/${slug}`)).body).toMatchObject({
      integration_id: slug,
      object: 'provider',
    });
    expect((await workspace().get(`/integrations/${slug}`)).body).toMatchObject({
      ai_provider_id: 'openai',
      workspace_id: h.first.workspace_id,
      masked_key: 'sk*******01',
      configurations: { openai_project: 'p' },
    });

    const updated = await workspace().put(`/virtual-keys/${slug}`, {
      name: 'Renamed',
      key: 'sk-of-another-key-0002',
      openaiProject: null,
      expires_at: '2020-01-01T00:00:00Z',
    });
    expect(updated.body).toEqual({});
    const after = (await workspace().get(`/virtual-keys/${slug}`)).body;
    expect(after).toMatchObject({
      name: 'Renamed',
      masked_key: 'sk*******02',
      model_config: {},
      note: 'n',
      status: 'expired',
    });
    const entry = await auditOf(slug, 'update');
    expect(entry.before).toMatchObject({ name: 'Main', model_config: { openaiProject: 'p' } });
    expect(entry.after).toMatchObject({ name: 'Renamed', model_config: {} });
    expect(entry.text).not.toMatch(/sk-of-a/);

    expect((await workspace().delete(`/virtual-keys/${slug}`)).body).toEqual({});
    for (const path of ['virtual-keys', 'providers', 'integrations'])
      await workspace().get(`/${path}/${slug}`).expect(404);
    expect((await auditOf(slug, 'delete')).before).toMatchObject({ name: 'Renamed' });
  });

  it.each([
    ['open-ai', 'openai'],
    ['hugging-face', 'huggingface'],
    ['google', 'google'],
    ['azure-openai', 'azure-openai'],
    ['deepseek', 'deepseek'],
  ])('know the provider %s', async (provider, id) => {
    const slug = await create({ provider });
    expect((await workspace().get(`/virtual-keys/${slug}`)).body.provider).toBe(id);
  });

  it('show no secret of their settings, under any name', async () => {
    const secret = 'aws-secret-of-this-key';
    const slug = await create({
      provider: 'bedrock',
      awsAccessKeyId: secret,
      awsSecretAccessKey: secret,
      awsRegion: 'eu-central-1',
      customHeaders: { authorization: secret, 'x-team': 'a' },
    });
    const read = await workspace().get(`/virtual-keys/${slug}`);
    expect(read.body.model_config).toEqual({
      masked_awsAccessKeyId: 'aw*******ey',
      masked_awsSecretAccessKey: 'aw*******ey',
      awsRegion: 'eu-central-1',
      customHeaders: { authorization: 'aw*******ey', 'x-team': '*******' },
    });
    const list = await workspace().get('/virtual-keys?current_page=0&page_size=1000');
    expect(read.text + list.text + (await auditOf(slug, 'create')).text).not.toContain(secret);
  });

  it('list every provider of the workspace, with pages or without', async () => {
    const [all, providers] = await Promise.all([
      workspace().get('/virtual-keys'),
      workspace().get('/providers'),
    ]);
    expect(all.body).toMatchObject({ object: 'list', total: providers.body.total });
    const slugs = (body: { data: { slug: string }[] }) => body.data.map((each) => each.slug);
    expect(slugs(all.body)).toEqual(slugs(providers.body));
    const page = await workspace().get('/virtual-keys?page_size=1&current_page=1');
    expect(page.body.data).toEqual(all.body.data.slice(1, 2));
  });

  it('made from an integration of the organisation keep its settings to it', async () => {
    await admin().post('/integrations', {
      name: 'Shared',
      slug: 'shared',
      ai_provider_id: 'bedrock',
      key: 'sk-of-the-organisation',
      configurations: { aws_region: 'eu', aws_role_arn: 'arn:aws:iam::1:role/a' },
    });
    await admin()
      .put('/integrations/shared/workspaces', {
        workspaces: [{ id: h.first.workspace_slug, enabled: true }],
      })
      .expect(200);
    expect((await workspace().get('/virtual-keys/shared')).body).toMatchObject({
      integration_id: 'shared',
      masked_key: '',
      model_config: {},
    });
    const refused = await workspace().put('/virtual-keys/shared', { key: 'sk-mine' });
    expect([refused.status, refused.body.data.message]).toEqual([
      400,
      'Its credentials belong to the integration shared: change them there.',
    ]);
    await workspace().put('/virtual-keys/shared', { note: 'mine' }).expect(200);
    await workspace().delete('/virtual-keys/shared').expect(200);
    await admin().get('/integrations/shared').expect(200);
  });

  it('leave their integration to others that have come to use it', async () => {
    const slug = await create();
    await workspace().post('/providers', { name: 'x', integration_id: slug, slug: 'second' });
    await workspace().delete(`/virtual-keys/${slug}`).expect(200);
    await workspace().get(`/integrations/${slug}`).expect(200);
    await workspace().get('/providers/second').expect(200);
  });

  it('take the place of neither the other half when one is refused', async () => {
    const count = async () => [await h.db.integration.count(), await h.db.provider.count()];
    const before = await count();
    for (const [body, field] of [
      [{ provider: 'nobody' }, 'body.provider'],
      [
        { secret_mappings: [{ target_field: 'key', secret_reference_id: 'none' }] },
        'body.secret_mappings[0].secret_reference_id',
      ],
      [{ customHost: 'file:///etc/passwd' }, 'body.customHost'],
    ] as const) {
      const answer = await workspace().post('/virtual-keys', {
        name: 'x',
        provider: 'openai',
        ...body,
      });
      expect([answer.status, answer.body.data.field]).toEqual([400, field]);
    }
    expect(await count()).toEqual(before);
  });

  it('are of one workspace, and not found from another', async () => {
    const slug = await create();
    const second = await admin().post('/admin/workspaces', { name: 'Second' });
    const row = await h.db.workspace.findFirstOrThrow({ where: { slug: second.body.slug } });
    const theirs = h.as(await createServiceKey(h, row.id));
    await theirs.get(`/virtual-keys/${slug}`).expect(404);
    await theirs.put(`/virtual-keys/${slug}`, { name: 'x' }).expect(404);
    await theirs.delete(`/virtual-keys/${slug}`).expect(404);
    await h.as(h.other.workspace_key).get(`/virtual-keys/${slug}`).expect(404);
    const sent = await theirs.post('/virtual-keys', {
      name: 'Mine',
      provider: 'openai',
      workspace_id: h.first.workspace_slug,
    });
    await workspace().get(`/virtual-keys/${sent.body.data.slug}`).expect(404);
    await theirs.get(`/virtual-keys/${sent.body.data.slug}`).expect(200);
  });
});

describe('secret mappings', () => {
  const reference = async (slug: string, columns: object = {}) => {
    const row = await h.db.secretReference.create({
      data: {
        id: crypto.randomUUID(),
        organisationId: h.first.organisation_id,
        slug,
        name: slug,
        managerType: 'aws_sm',
        authConfig: {},
        sealedAuthConfig: new Uint8Array(),
        secretPath: 'p',
        createdBy: h.first.organisation_id,
        ...columns,
      },
    });
    return row.id;
  };
  const mapping = (secret_reference_id: string, target_field = 'key') => ({
    target_field,
    secret_reference_id,
  });

  it('name references by UUID or slug, and are shown with the UUID and the full target', async () => {
    const id = await reference('vault');
    const mappings = [mapping('vault'), mapping(id, 'awsSecretAccessKey')];
    const slug = await create({ provider: 'bedrock', key: undefined, secret_mappings: mappings });
    const kept = { secret_reference_id: id, secret_key: null, value_format: null };
    expect((await workspace().get(`/virtual-keys/${slug}`)).body.secret_mappings).toEqual([
      { ...kept, target_field: 'key' },
      { ...kept, target_field: 'model_config.awsSecretAccessKey' },
    ]);
    expect((await workspace().get(`/integrations/${slug}`)).body.secret_mappings).toEqual([
      { ...kept, target_field: 'key' },
      { ...kept, target_field: 'configurations.aws_secret_access_key' },
    ]);
    await workspace().put(`/integrations/${slug}`, { secret_mappings: null }).expect(200);
    expect((await workspace().get(`/virtual-keys/${slug}`)).body.secret_mappings).toEqual([]);
  });

  it('refuse what is inactive, not visible, of another organisation, or no target', async () => {
    await reference('retired', { status: 'ARCHIVED' });
    await reference('narrow', { allowAllWorkspaces: false });
    await reference('foreign', { organisationId: h.other.organisation_id });
    await reference('usable');
    const at = 'body.secret_mappings[0]';
    for (const [sent, field, text] of [
      [mapping('retired'), `${at}.secret_reference_id`, 'is not active'],
      [mapping('narrow'), `${at}.secret_reference_id`, 'is not open to this workspace'],
      [mapping('foreign'), `${at}.secret_reference_id`, 'is no secret reference'],
      [mapping('usable', 'configurations.'), `${at}.target_field`, 'must be "key" or'],
      [mapping('usable', 'a b'), `${at}.target_field`, 'must be "key" or'],
      [
        mapping('usable', 'configurations.openai_orgnaization'),
        `${at}.target_field`,
        'is no setting of openai; did you mean openai_organization?',
      ],
      [mapping('usable', 'aws_regoin'), `${at}.target_field`, 'is no setting of openai'],
    ] as const) {
      const answer = await workspace().post('/integrations', {
        name: 'x',
        ai_provider_id: 'openai',
        secret_mappings: [sent],
      });
      expect([answer.status, answer.body.data.field]).toEqual([400, field]);
      expect(answer.body.data.message).toContain(text);
    }
    const twice = await workspace().post('/integrations', {
      name: 'x',
      ai_provider_id: 'openai',
      secret_mappings: ['custom_host', 'configurations.custom_host'].map((target) =>
        mapping('usable', target),
      ),
    });
    expect(twice.body.data.field).toBe('body.secret_mappings[1].target_field');
    // What others have, and what lies within a setting.
    const taken = await workspace().post('/integrations', {
      name: 'x',
      slug: 'mapped',
      ai_provider_id: 'openai',
      secret_mappings: ['aws_region', 'custom_headers.x-team'].map((target) =>
        mapping('usable', target),
      ),
    });
    expect([taken.status, taken.body.warnings]).toEqual([
      200,
      [mappingsDoNothing, `${at}.target_field: is no setting of openai, and does nothing there`],
    ]);
    const virtual = { name: 'x', provider: 'bedrock', key: 'k' };
    const wrong = await workspace().post('/virtual-keys', {
      ...virtual,
      secret_mappings: [mapping('usable', 'model_config.awsRegoin')],
    });
    expect([wrong.status, wrong.body.data.field]).toEqual([400, `${at}.target_field`]);
    expect(wrong.body.data.message).toContain('did you mean aws_region?');
  });

  it('see a reference that is open to their workspace by name', async () => {
    const id = await reference('opened', { allowAllWorkspaces: false });
    await h.db.secretReferenceWorkspace.create({
      data: { secretReferenceId: id, workspaceId: h.first.workspace_id },
    });
    await create({ secret_mappings: [mapping('opened')] });
  });
});
