import { randomUUID } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPerson, policyBody } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { HeldSections } from '../support/held-sections.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const admin = () => h.as(h.first.admin_key);
const adminPut = async (path: string, body: object) =>
  (await admin().put(path, body).expect(200)).body;
const holding = () => new HeldSections(h, h.first.workspace_id);
const allSections = [
  'configs',
  'prompts',
  'partials',
  'promptVersions',
  'partialVersions',
  'guardrails',
  'guardrailVersions',
  'mcpServers',
  'agentServers',
];

/** One that holds everything already. */
async function upToDate(): Promise<HeldSections> {
  const held = holding();
  await held.refresh();
  return held;
}

async function put(path: string, body: object) {
  return (await workspace().put(path, body).expect(200)).body;
}
async function post(path: string, body: object) {
  return (await workspace().post(path, body).expect(200)).body;
}
const newConfig = async (name = 'x') =>
  (await post('/configs', { name, config: { provider: '@demo' } })).data as {
    id: string;
    slug: string;
  };
const newPrompt = () =>
  post('/prompts', {
    name: 'P',
    collection_id: 'default',
    string: 'Hello {{name}}',
    parameters: {},
    virtual_key: 'demo',
  });

const newGuardrail = () =>
  post('/guardrails', { name: 'G', checks: [{ id: 'default.wordCount' }], actions: {} });

describe('GetSections', () => {
  it('sends everything to who holds nothing, and nothing to who holds all', async () => {
    await newConfig();
    const held = holding();
    expect((await held.refresh()).startedOver).toEqual(allSections);
    expect(held.core?.workspaceId).toBe(h.first.workspace_id);
    expect(held.end?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await held.refresh()).toMatchObject({ unchanged: true, items: 0 });
    expect((await new HeldSections(h, randomUUID()).refresh()).gone).toBe(true);
    expect((await new HeldSections(h, 'no-uuid').refresh()).gone).toBe(true);
  });

  it('leaves who holds what was before every kind of change as it leaves who asks for everything', async () => {
    const held = await upToDate();
    const { slug: configSlug } = await newConfig();
    const prompt = await newPrompt();
    const partial = await post('/prompts/partials', { name: 'Part', string: 'One' });
    const label = await post('/labels', { name: `moving-${randomUUID().slice(0, 8)}` });
    const integration = await post('/integrations', {
      name: 'Another',
      ai_provider_id: 'openai',
      key: 'sk-of-another-provider',
    });
    const guardrail = await newGuardrail();
    const policy = await post('/policies/rate-limits', policyBody);
    const changes: readonly (() => Promise<unknown>)[] = [
      async () => {},
      () => put(`/configs/${configSlug}`, { name: 'y' }),
      () => put(`/configs/${configSlug}`, { isDefault: 1 }),
      () => put(`/configs/${configSlug}`, { isDefault: 0 }),
      () => put(`/configs/${configSlug}`, { status: 'archived' }),
      () => put(`/configs/${configSlug}`, { status: 'active' }),
      () => workspace().delete(`/configs/${configSlug}`).expect(200),
      () => put(`/prompts/${prompt.slug}`, { patch: true, model: 'm-2' }),
      () => put(`/prompts/${prompt.slug}/makeDefault`, { version: 2 }),
      () => put(`/prompts/${prompt.slug}/versions/${prompt.version_id}`, { label_id: label.id }),
      () => put(`/labels/${label.id}`, { name: `renamed-${randomUUID().slice(0, 8)}` }),
      () => put(`/prompts/${prompt.slug}`, { virtual_key: integration.slug }),
      () => put(`/prompts/${prompt.slug}/versions/${prompt.version_id}`, { label_id: null }),
      () => put(`/prompts/${prompt.slug}/versions/${prompt.version_id}`, { label_id: label.id }),
      () => workspace().delete(`/labels/${label.id}`).expect(200),
      () => put(`/prompts/partials/${partial.slug}`, { string: 'Two' }),
      () => put(`/prompts/partials/${partial.slug}/makeDefault`, { version: 2 }),
      () => put(`/prompts/partials/${partial.slug}`, { status: 'archived' }),
      () => put(`/prompts/partials/${partial.slug}`, { status: 'active' }),
      () => workspace().delete(`/prompts/partials/${partial.slug}`).expect(200),
      () => workspace().delete(`/prompts/${prompt.slug}`).expect(200),
      () => put(`/integrations/${integration.slug}`, { key: 'sk-of-another-provider-2' }),
      () => put(`/policies/rate-limits/${policy.id}`, { value: 7 }),
      () => put(`/guardrails/${guardrail.slug}`, { actions: { deny: true } }),
      () => newGuardrail(),
      () => put(`/guardrails/${guardrail.slug}`, { checks: [{ id: 'default.alluppercase' }] }),
      () => workspace().delete(`/guardrails/${guardrail.slug}`).expect(200),
      () => workspace().delete(`/providers/${integration.slug}`).expect(200),
    ];
    const hashes = new Set<string | undefined>();
    for (const [number, change] of changes.entries()) {
      await change();
      const told = await held.refresh();
      expect(told.startedOver, `change ${number}`).toEqual([]);
      expect(held.content, `change ${number}`).toEqual((await upToDate()).content);
      hashes.add(held.end?.hash);
    }
    expect(hashes.size).toBe(changes.length);
  });

  it('tells of servers whatever decides about them, in every workspace that has one', async () => {
    const { body: another } = await admin().post('/admin/workspaces', { name: 'Beside' });
    const { id: besideId } = await h.db.workspace.findFirstOrThrow({
      where: { slug: another.slug },
    });
    const members = [h.first.workspace_id, besideId];
    const user = await createPerson(h, 'member', h.first.workspace_id);
    const secret = 'token-of-the-upstream';
    const changes: [string, (servers: Servers) => Promise<unknown>][] = [
      ['rename', ({ server }) => adminPut(server, { name: 'Renamed' })],
      ['settings', ({ integration }) => adminPut(integration, { description: 'Other' })],
      [
        'offer off',
        ({ integration, offers }) => adminPut(`${integration}/${offers.path}`, offers.off),
      ],
      [
        'offer on',
        ({ integration, offers }) => adminPut(`${integration}/${offers.path}`, offers.on),
      ],
      ['switch off', ({ server, offers }) => adminPut(`${server}/${offers.path}`, offers.off)],
      ['switch on', ({ server, offers }) => adminPut(`${server}/${offers.path}`, offers.on)],
      [
        'deny all',
        ({ server }) => adminPut(`${server}/user-access`, { default_user_access: 'deny' }),
      ],
      [
        'user',
        ({ server }) =>
          adminPut(`${server}/user-access`, {
            user_access: [{ user_id: user.userId, enabled: true }],
          }),
      ],
      ['user gone', () => h.db.user.delete({ where: { id: user.userId } }).then(raiseRevision)],
      ['close', ({ integration }) => openTo(integration, members, false)],
      ['open', ({ integration }) => openTo(integration, members, true)],
      ['server gone', ({ server }) => admin().delete(server).expect(200)],
      ['gone', ({ integration }) => admin().delete(integration).expect(200)],
    ];
    for (const kind of ['mcp', 'agent'] as const) {
      const held = [await upToDate(), new HeldSections(h, besideId)];
      await held[1]?.refresh();
      const servers = await newServers(kind, members, secret);
      const states = new Set<string>();
      for (const [name, change] of changes) {
        if (name !== 'user gone' || kind === 'agent') await change(servers);
        for (const each of held) {
          const told = await each.refresh();
          expect(told.startedOver, `${kind} ${name}`).toEqual([]);
          const fresh = new HeldSections(h, each.workspaceId);
          await fresh.refresh();
          expect(each.content, `${kind} ${name}`).toEqual(fresh.content);
        }
        states.add(JSON.stringify(held.map((each) => each.content.sections[`${kind}Servers`])));
      }
      // The user is there for one of them only, and an offer that is on again is what it was.
      expect(states.size, kind).toBeGreaterThanOrEqual(8);
    }
  });

  it('gives a server with what counts in its workspace, and its secrets in clear', async () => {
    const secret = 'token-of-the-upstream';
    const { integration, server } = await newServers('mcp', [h.first.workspace_id], secret);
    const capability = (name: string, enabled: boolean, type = 'tool') => ({ type, name, enabled });
    await adminPut(`${integration}/capabilities`, {
      capabilities: [capability('add', true), capability('drop', false), capability('sub', true)],
    });
    await adminPut(`${server}/capabilities`, {
      capabilities: [capability('drop', true), capability('sub', false)],
    });
    const { id: integrationId } = await h.db.mcpIntegration.findFirstOrThrow({
      where: { id: integration.split('/').at(-1) ?? '' },
    });
    // Two resources of one name are told apart by their address.
    await h.db.mcpCapability.createMany({
      data: ['file:///one', 'file:///two'].map((uri, index) => ({
        integrationId,
        type: 'resource',
        name: index === 0 ? 'notes' : uri,
        enabled: index === 0,
        detail: { uri },
      })),
    });
    await h.db.mcpPin.create({
      data: { integrationId, type: 'tool', name: 'add', pinnedHash: 'ab', seenAt: new Date() },
    });
    await raiseRevision();
    const found = await serverOf(server);
    expect(found).toMatchObject({
      url: 'https://mcp.example.com/mcp',
      transport: 'http',
      authType: 'headers',
      enabled: true,
      usersAllowed: true,
      newCapabilities: 'enabled',
      onDrift: 'alert',
      members: [],
      policyJson: '',
    });
    expect(JSON.parse(found?.configurationsJson ?? '')).toEqual({
      custom_headers: { Authorization: secret },
    });
    expect(
      found?.capabilities.map(({ type, name, enabled, pin }) => [type, name, enabled, pin]),
    ).toEqual([
      ['resource', 'file:///one', true, ''],
      ['resource', 'file:///two', false, ''],
      ['tool', 'add', true, 'ab'],
      ['tool', 'drop', false, ''],
      ['tool', 'sub', false, ''],
    ]);
    await openTo(integration, [h.first.workspace_id], false);
    expect(await serverOf(server)).toMatchObject({ enabled: false });
  });

  it('takes versions out and in as a prompt moves past the newest 1,000', async () => {
    const { id, slug, version_id: first } = await newPrompt();
    await h.db.$executeRaw`
      INSERT INTO prompt_versions (id, prompt_id, version, template, virtual_key, created_by)
      SELECT gen_random_uuid(), ${id}::uuid, n, 'Text ' || n, 'demo', gen_random_uuid()
      FROM generate_series(2, 1005) AS n`;
    await h.db.prompt.update({ where: { id }, data: { latestVersion: 1005, publishedVersion: 9 } });
    await raiseRevision();
    const label = await post('/labels', { name: 'old' });
    const held = await upToDate();
    const changes: readonly (() => Promise<unknown>)[] = [
      () => put(`/prompts/${slug}`, { patch: true, model: 'm-2' }),
      () => put(`/prompts/${slug}/versions/${first}`, { label_id: label.id }),
      () => put(`/prompts/${slug}/makeDefault`, { version: 3 }),
      () => put(`/prompts/${slug}/makeDefault`, { version: 1006 }),
      () => workspace().delete(`/labels/${label.id}`).expect(200),
    ];
    for (const [number, change] of changes.entries()) {
      await change();
      const { items } = await held.refresh();
      expect(items, `change ${number}`).toBeLessThan(5);
      expect(held.content, `change ${number}`).toEqual((await upToDate()).content);
    }
  });

  it('knows of what was written by whatever wrote it', async () => {
    const { id, slug } = await newConfig();
    const held = await upToDate();
    // As a replica of the release before does, and the database itself.
    await h.db.config.update({ where: { id }, data: { name: 'Renamed' } });
    await raiseRevision();
    expect(await held.refresh()).toMatchObject({ items: 1, startedOver: [] });
    await h.db.$executeRaw`DELETE FROM configs WHERE slug = ${slug}`;
    await raiseRevision();
    expect(await held.refresh()).toMatchObject({ items: 0, startedOver: [] });
    expect(held.content).toEqual((await upToDate()).content);
  });

  it.each<[string, (held: HeldSections) => void]>([
    [
      'of a database that was restored since',
      ({ end }) => end && Object.assign(end, { stamp: randomUUID() }),
    ],
    [
      'from a revision that is not kept any more',
      ({ end }) => end && Object.assign(end, { revision: 0n }),
    ],
    [
      'from a revision that is still to come',
      ({ end }) => end && Object.assign(end, { revision: end.revision + 5n }),
    ],
  ])('starts over for who holds a state %s', async (_name, make) => {
    const held = await upToDate();
    make(held);
    expect((await held.refresh()).startedOver).toEqual(allSections);
  });

  it('starts a section over for who holds it in another format or not at all, and no other', async () => {
    const held = await upToDate();
    if (held.end !== undefined) {
      held.end.formats.configs = 99;
      delete held.end.formats.partials;
    }
    expect((await held.refresh()).startedOver).toEqual(['configs', 'partials']);
    expect(held.content).toEqual((await upToDate()).content);
  });

  // From here on there are many, which whoever asks for everything is sent.
  it('of 400 configs sends the one that changed, in less than 10 kB', async () => {
    const { slug } = await newConfig('One of many');
    await insertConfigs(400);
    await raiseRevision();
    const held = await upToDate();
    await put(`/configs/${slug}`, { config: { provider: '@demo', retry: { attempts: 2 } } });
    const told = await held.refresh();
    expect(told).toMatchObject({ items: 1, startedOver: [] });
    expect(told.bytes).toBeLessThan(10_000);
    expect(held.content).toEqual((await upToDate()).content);
  });

  it('starts a section over when more of it changed than is worth a difference', async () => {
    const held = await upToDate();
    await insertConfigs(600);
    await newConfig();
    expect((await held.refresh()).startedOver).toEqual(['configs']);
    expect(held.content).toEqual((await upToDate()).content);
  });

  it('keeps notes of the last 10,000 revisions only', async () => {
    const { id, organisationId } = await h.db.workspace.create({
      data: {
        id: randomUUID(),
        organisationId: h.first.organisation_id,
        slug: 'long-lived',
        name: 'Long lived',
      },
    });
    await insertConfigs(3, { id, organisationId });
    const setRevision = (revision: bigint) =>
      h.db.workspace.update({ where: { id }, data: { revision } });
    await setRevision(2n);
    expect(await h.db.bundleChange.count({ where: { workspaceId: id } })).toBe(3);
    await setRevision(10_100n);
    expect(await h.db.bundleChange.count({ where: { workspaceId: id } })).toBe(0);
    const kept = await h.db.bundleRevision.findMany({ where: { workspaceId: id } });
    expect(kept.map((row) => row.revision)).toEqual([10_100n]);
  });
});

interface Servers {
  integration: string;
  server: string;
  /** How its offers are switched. */
  offers: { path: string; off: object; on: object };
}

/** An integration of the organisation that is open to these workspaces, each with a server of it; the path of the first. */
async function newServers(
  kind: 'mcp' | 'agent',
  workspaceIds: readonly string[],
  secret: string,
): Promise<Servers> {
  const { body } = await admin()
    .post(`/${kind}-integrations`, {
      name: 'Tools',
      url: `https://${kind}.example.com/mcp`,
      auth_type: 'headers',
      ...(kind === 'mcp' ? { transport: 'http' } : {}),
      configurations: { custom_headers: { Authorization: secret } },
    })
    .expect(200);
  const integration = `/${kind}-integrations/${body.id}`;
  await openTo(integration, workspaceIds, true);
  const ids: string[] = [];
  for (const workspace_id of workspaceIds) {
    const made = await admin()
      .post(`/${kind}-servers`, { name: 'S', [`${kind}_integration_id`]: body.id, workspace_id })
      .expect(200);
    ids.push(made.body.id);
  }
  const offers = (enabled: boolean) =>
    kind === 'mcp'
      ? { capabilities: [{ type: 'tool', name: 'add', enabled }] }
      : { skills: [{ id: 'add', enabled }] };
  return {
    integration,
    server: `/${kind}-servers/${ids[0]}`,
    offers: {
      path: kind === 'mcp' ? 'capabilities' : 'skills',
      off: offers(false),
      on: offers(true),
    },
  };
}

const openTo = (integration: string, ids: readonly string[], enabled: boolean) =>
  adminPut(`${integration}/workspaces`, { workspaces: ids.map((id) => ({ id, enabled })) });

/** The MCP server of this path as gateways hold it. */
async function serverOf(path: string): Promise<config.McpServer | undefined> {
  const bytes = (await upToDate()).sections.get('mcpServers')?.get(path.split('/').at(-1) ?? '');
  return bytes === undefined
    ? undefined
    : fromBinary(config.McpServerSchema, Buffer.from(bytes, 'base64'));
}

/** Ends a change that no operation made. */
async function raiseRevision(): Promise<void> {
  await h.db.workspace.update({
    where: { id: h.first.workspace_id },
    data: { revision: { increment: 1 } },
  });
}

async function insertConfigs(
  count: number,
  place = { id: h.first.workspace_id, organisationId: h.first.organisation_id },
): Promise<void> {
  await h.db.$executeRaw`
    WITH made AS (
      INSERT INTO configs (id, organisation_id, workspace_id, slug, name, version, owner_id, updated_by)
      SELECT gen_random_uuid(), ${place.organisationId}::uuid, ${place.id}::uuid, 'pc-' || gen_random_uuid(), 'n', 1, gen_random_uuid(), gen_random_uuid()
      FROM generate_series(1, ${count}) AS n
      RETURNING id, slug
    )
    INSERT INTO config_versions (id, config_id, version, name, status, body, created_by)
    SELECT gen_random_uuid(), id, 1, 'n', 'active', ${JSON.stringify({ provider: '@demo', metadata: 'x'.repeat(900) })}, gen_random_uuid() FROM made`;
}
