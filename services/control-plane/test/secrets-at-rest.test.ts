import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBundle } from './support/bundle.ts';
import { type Harness, startHarness } from './support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);

/** Nothing else in the database looks like these. */
let made = 0;
const secrets: string[] = [];
function secret(): string {
  made += 1;
  const value = `c0nfidential-${made}-${'x'.repeat(made)}`;
  secrets.push(value);
  return value;
}

/** Every row of every table, as text. */
async function dump(): Promise<string> {
  const tables = await h.db.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`;
  const texts = await Promise.all(
    tables.map(({ name }) =>
      h.db.$queryRawUnsafe<{ text: string }[]>(`SELECT t::text AS text FROM "${name}" t`),
    ),
  );
  return texts
    .flat()
    .map((row) => row.text)
    .join('\n');
}

/** In clear, and as the bytes of a column that is only encoded. */
async function expectNoSecretInClear() {
  const text = await dump();
  expect(text).toContain('Confidential');
  for (const value of secrets) {
    expect(text).not.toContain(value);
    expect(text).not.toContain(Buffer.from(value).toString('hex'));
    expect(text).not.toContain(Buffer.from(value).toString('base64').slice(0, 16));
  }
}

describe('no credential is in the database in clear', () => {
  it('of integrations, their models, and virtual keys, and gateways get all of them', async () => {
    const key = secret();
    const settings = { aws_secret_access_key: secret(), aws_region: 'eu' };
    const headers = { 'x-api-key': secret(), 'x-team': secret() };
    const nested = { oauth: { client_secret: secret(), client_id: 'public' } };
    await workspace()
      .post('/integrations', {
        name: 'Confidential',
        slug: 'confidential',
        ai_provider_id: 'openai',
        key,
        configurations: { ...settings, ...nested, custom_headers: headers },
      })
      .set('x-service-lenient-input', 'true')
      .expect(200);
    const modelHeaders = { authorization: secret(), 'x-team': secret() };
    await workspace()
      .put('/integrations/confidential/models', {
        models: [{ slug: 'm', enabled: true, configurations: { custom_headers: modelHeaders } }],
      })
      .expect(200);
    const virtualKey = { key: secret(), awsSecretAccessKey: secret(), awsAccessKeyId: secret() };
    const created = await workspace()
      .post('/virtual-keys', { name: 'Confidential key', provider: 'bedrock', ...virtualKey })
      .expect(200);
    await workspace().put('/integrations/confidential', { name: 'Confidential too' }).expect(200);
    await expectNoSecretInClear();

    const { bundle } = await readBundle(h, h.first.workspace_id);
    const providerOf = (slug: string) => bundle?.providers.find((each) => each.slug === slug);
    const provider = providerOf('confidential');
    expect(provider).toMatchObject({ apiKey: key, customHeaders: headers });
    expect(JSON.parse(provider?.configurationsJson ?? '')).toEqual({ ...settings, ...nested });
    expect(provider?.models[0]?.customHeaders).toEqual(modelHeaders);
    const ofKey = providerOf(created.body.data.slug);
    expect(ofKey?.apiKey).toBe(virtualKey.key);
    expect(JSON.parse(ofKey?.configurationsJson ?? '')).toEqual({
      aws_secret_access_key: virtualKey.awsSecretAccessKey,
      aws_access_key_id: virtualKey.awsAccessKeyId,
    });
  });

  it('of models, when their settings come back as they were shown', async () => {
    const path = '/integrations/confidential/models';
    const [shown] = (await workspace().get(path)).body.models;
    expect(shown.configurations.custom_headers).toEqual({
      authorization: expect.stringMatching(/^c0\*{7}xx$/),
      'x-team': expect.stringMatching(/^c0\*{7}xx$/),
    });
    const before = (await readBundle(h, h.first.workspace_id)).bundle;
    await workspace()
      .put(path, { models: [shown] })
      .expect(200);
    expect((await readBundle(h, h.first.workspace_id)).bundle?.hash).toBe(before?.hash);
  });

  it('of configs, in any of their versions, and gateways get the documents whole', async () => {
    const document = () => ({
      strategy: { mode: 'fallback' },
      targets: [
        { provider: 'openai', api_key: secret(), override_params: { max_tokens: 7 } },
        {
          provider: 'bedrock',
          api_key: secret(),
          awsSecretAccessKey: secret(),
          aws_region: 'eu-central-1',
        },
      ],
      before_request_hooks: [
        {
          id: 'h',
          credentials: { token: secret() },
          checks: [{ id: 'default.webhook', parameters: { headers: { 'X-Auth': secret() } } }],
        },
      ],
    });
    const [one, two] = [document(), document()];
    const created = await workspace().post('/configs', { name: 'Confidential', config: one });
    expect(created.status, created.text).toBe(200);
    const path = `/configs/${created.body.data.slug}`;
    await workspace().put(path, { config: two }).expect(200);
    await workspace().put(path, { name: 'Confidential as before' }).expect(200);
    await expectNoSecretInClear();

    const read = await workspace().get(path);
    expect(read.body.data.config.targets[0]).toEqual({
      provider: 'openai',
      api_key: 'c0*******xx',
      override_params: { max_tokens: 7 },
    });
    const versions = await workspace().get(`${path}/versions`);
    expect(versions.body.total).toBe(3);
    for (const value of secrets) expect(read.text + versions.text).not.toContain(value);
    const { configs } = await readBundle(h, h.first.workspace_id);
    const sent = configs.find((each) => each.slug === created.body.data.slug);
    expect(JSON.parse(sent?.bodyJson ?? '')).toEqual(two);
  });

  it('of configs that are written with their masks, which stand for what was stored', async () => {
    const targets = [
      { provider: 'openai', api_key: `${secret()}-a` },
      { provider: 'anthropic', api_key: `${secret()}-b` },
    ];
    const created = await workspace().post('/configs', { name: 'Shown', config: { targets } });
    const path = `/configs/${created.body.data.slug}`;
    const { config } = (await workspace().get(path)).body.data;
    config.targets.reverse();
    config.retry = { attempts: 2 };
    await workspace().put(path, { config }).expect(200);
    const { configs } = await readBundle(h, h.first.workspace_id);
    const sent = configs.find((each) => each.slug === created.body.data.slug);
    expect(JSON.parse(sent?.bodyJson ?? '')).toEqual({
      targets: targets.toReversed(),
      retry: { attempts: 2 },
    });
    await expectNoSecretInClear();

    const unknown = { provider: 'openai', api_key: 'zz*******zz' };
    for (const send of [
      () => workspace().put(path, { config: { targets: [unknown] } }),
      () => workspace().post('/configs', { name: 'Copy', config: { targets: [unknown] } }),
    ]) {
      const refused = await send();
      expect([refused.status, refused.body.data.field]).toEqual([
        400,
        'body.config.targets[0].api_key',
      ]);
    }
  });

  it('while documents from before, which lie open, are read and changed as ever', async () => {
    const created = await workspace().post('/configs', {
      name: 'Old',
      config: { provider: '@demo' },
    });
    const old = JSON.stringify({ provider: 'openai', api_key: 'from-before-sealing' });
    await h.db.configVersion.update({
      where: { id: created.body.data.version_id },
      data: { body: old },
    });
    const { configs } = await readBundle(h, h.first.workspace_id);
    const { slug } = created.body.data;
    const shown = await workspace().get(`/configs/${slug}`);
    const versions = await workspace().get(`/configs/${slug}/versions`);
    expect(shown.body.data.config.api_key).toBe('fr*******ng');
    expect(shown.text + versions.text).not.toContain('from-before-sealing');
    expect(configs.find((each) => each.slug === slug)?.bodyJson).toBe(old);
    await workspace().put(`/configs/${slug}`, { name: 'New' }).expect(200);
    const row = await h.db.configVersion.findFirstOrThrow({
      where: { configId: created.body.data.id, version: 2 },
    });
    expect(row.body).not.toContain('from-before-sealing');
    const after = (await readBundle(h, h.first.workspace_id)).configs;
    expect(after.find((each) => each.slug === slug)?.bodyJson).toBe(old);
  });

  it('of headers that the release before kept in clear, masked at once and sealed at the next start', async () => {
    const [ours, theirs] = [secret(), secret()];
    const made = await workspace()
      .post('/integrations', {
        name: 'Confidential headers',
        slug: 'headers',
        ai_provider_id: 'openai',
        configurations: { custom_headers: { 'x-team': ours } },
      })
      .expect(200);
    const model = { slug: 'm', enabled: true, configurations: {} };
    await workspace()
      .put('/integrations/headers/models', { models: [model] })
      .expect(200);
    await h.db.integration.update({
      where: { id: made.body.id },
      data: { configurations: { custom_headers: { 'x-team': ours } } },
    });
    await h.db.integrationModel.update({
      where: { integrationId_slug: { integrationId: made.body.id, slug: 'm' } },
      data: { configurations: { custom_headers: { 'x-team': theirs } } },
    });
    const before = (await readBundle(h, h.first.workspace_id)).bundle;
    expect(before?.providers.find(({ slug }) => slug === 'headers')).toMatchObject({
      customHeaders: { 'x-team': ours },
      models: [{ customHeaders: { 'x-team': theirs } }],
    });
    for (const path of [
      '/integrations/headers',
      '/integrations/headers/models',
      '/virtual-keys/headers',
    ]) {
      const shown = await workspace().get(path);
      expect(shown.text, path).toMatch(/"x-team":"c0\*{7}x{1,2}"/);
      expect(shown.text, path).not.toContain('c0nfidential');
    }
    await h.replica();
    await expectNoSecretInClear();
    expect((await readBundle(h, h.first.workspace_id)).bundle?.hash).toBe(before?.hash);
  });
});
