import { json, startUpstream } from '@sluice/testkit';
import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type GatewayProcess, startGateway } from './support/gateway-process.ts';
import { type Harness, startHarness } from './support/harness.ts';

/** A client library that was written for the published description, with its own header names. */
let h: Harness;
let gateway: GatewayProcess;
let admin: Portkey;
let workspace: Portkey;
beforeAll(async () => {
  h = await startHarness();
  gateway = await startGateway(h, h.service, { HEADER_PREFIX_ALIASES: 'x-portkey-' });
  const client = (apiKey: string) => new Portkey({ apiKey, baseURL: `${gateway.url}/v1` });
  admin = client(h.first.admin_key);
  workspace = client(h.first.workspace_key);
});
afterAll(async () => {
  await gateway?.stop();
  await h.stop();
});

/** What came over the wire, without what the client adds. */
const plain = (answer: object): Record<string, unknown> => JSON.parse(JSON.stringify(answer));

describe('a client library of the published description', () => {
  it('runs workspaces, members, users and invites', async () => {
    const made = await admin.admin.workspaces.create({ name: 'Research', description: 'x' });
    expect(made.slug).toMatch(/^ws-/);
    const workspaceId = String(made.slug);
    const listed = await admin.admin.workspaces.list({ exact_name: 'Research' });
    expect(listed.total).toBe(1);
    await admin.admin.workspaces.update({ workspaceId, description: 'y' });
    expect((await admin.admin.workspaces.retrieve({ workspaceId })).description).toBe('y');

    const owner = (await admin.admin.users.list({ role: 'owner' })).data?.[0];
    expect(z.email().safeParse(owner?.email).success).toBe(true);
    expect((await admin.admin.users.retrieve({ userId: owner?.id })).email).toBe(owner?.email);
    await admin.admin.workspaces.users.create({
      workspaceId,
      users: [{ id: String(owner?.id), role: 'admin' }],
    });
    const members = await admin.admin.workspaces.users.list({ workspaceId });
    expect((plain(members).data as { id: string }[]).map((member) => member.id)).toEqual([
      owner?.id,
    ]);
    await admin.admin.workspaces.users.update({ workspaceId, userId: owner?.id, role: 'member' });
    const member = await admin.admin.workspaces.users.retrieve({ workspaceId, userId: owner?.id });
    expect(member.role).toBe('member');
    await admin.admin.workspaces.users.delete({ workspaceId, userId: owner?.id });

    const invite = await admin.admin.users.invites.create({
      email: 'new@example.org',
      role: 'member',
      workspaces: [{ id: workspaceId, role: 'member' }],
    });
    expect(invite.invite_link).toMatch(/^http/);
    const pending = await admin.admin.users.invites.list({ status: 'pending' });
    expect(pending.data?.map((each) => each.id)).toContain(invite.id);
    await admin.admin.users.invites.resend({ inviteId: invite.id });
    await admin.admin.users.invites.delete({ inviteId: invite.id });
    const cancelled = await admin.admin.users.invites.retrieve({ inviteId: invite.id });
    expect(cancelled.status).toBe('cancelled');
    await admin.admin.workspaces.delete({ workspaceId });
  });

  it('runs keys', async () => {
    const made = await admin.apiKeys.create({
      type: 'workspace',
      'sub-type': 'service',
      name: 'CI',
      workspace_id: h.first.workspace_slug,
      scopes: ['completions.write', 'configs.list'],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 10 }],
    });
    expect(made.object).toBe('api-key');
    await admin.apiKeys.update({ id: made.id, name: 'CI 2', scopes: ['configs.list'] });
    const read = await admin.apiKeys.retrieve({ id: made.id });
    expect([read.name, read.key]).toEqual(['CI 2', expect.stringMatching(/^..\*{7}..$/)]);
    const listed = await admin.apiKeys.list({
      workspace_id: h.first.workspace_slug,
      page_size: 100,
      current_page: 0,
    });
    expect(listed.data?.map((each) => each.id)).toContain(made.id);
    await admin.apiKeys.delete({ id: made.id });
    await expect(admin.apiKeys.retrieve({ id: made.id })).rejects.toMatchObject({ status: 404 });
  });

  it('runs integrations, providers and virtual keys', async () => {
    const integration = await workspace.integrations.create({
      name: 'Main',
      ai_provider_id: 'openai',
      slug: 'client-main',
      key: 'sk-client-secret',
    });
    const slug = String(integration.slug);
    expect(
      (plain(await workspace.integrations.list()).data as { slug: string }[]).map(
        (each) => each.slug,
      ),
    ).toContain(slug);
    expect(plain(await workspace.integrations.retrieve({ slug })).masked_key).not.toContain(
      'client-secret',
    );
    await workspace.integrations.update({ slug, name: 'Main 2' });
    await workspace.integrations.models.update({
      slug,
      models: [{ slug: 'my-model', enabled: true, is_custom: true }],
    });
    expect((await workspace.integrations.models.list({ slug })).models).not.toEqual([]);
    await workspace.integrations.models.delete({ slug, slugs: 'my-model' });
    const provider = await workspace.providers.create({ name: 'Second', integration_id: slug });
    const named = { slug: String(provider.slug) };
    await workspace.providers.update({ ...named, note: 'n' });
    expect((await workspace.providers.retrieve(named)).note).toBe('n');
    await workspace.providers.list({ page_size: 5, current_page: 0 });
    await workspace.providers.delete(named);

    const key = await workspace.virtualKeys.create({
      name: 'Legacy',
      provider: 'openai',
      key: 'sk-legacy-secret',
      note: null,
    } as never);
    const virtual = { slug: String((plain(key).data as { slug: string }).slug) };
    expect((await workspace.virtualKeys.retrieve(virtual)).name).toBe('Legacy');
    await workspace.virtualKeys.update({ ...virtual, name: 'Legacy 2' } as never);
    expect(plain(await workspace.virtualKeys.list({} as never)).total).toBeGreaterThan(0);
    await workspace.virtualKeys.delete(virtual);
    await workspace.integrations.delete({ slug });
  });

  it('runs configs', async () => {
    const made = plain(
      await workspace.configs.create({ name: 'Client', config: { provider: '@demo' } } as never),
    );
    expect(made).toMatchObject({ success: true, data: { id: expect.any(String) } });
    const listed = plain(await workspace.configs.list());
    const row = (listed.data as { id: string; slug: string }[]).find(
      ({ id }) => id === (made.data as { id: string }).id,
    );
    const slug = String(row?.slug);
    await workspace.configs.update({
      slug,
      name: 'Client 2',
      config: { provider: '@demo' },
    } as never);
    expect(plain(await workspace.configs.retrieve({ slug }))).toMatchObject({
      data: { config: { provider: '@demo' } },
    });
    await workspace.configs.delete({ slug } as never);
  });

  it('runs collections, labels, prompts and partials', async () => {
    const collection = await workspace.collections.create({
      name: 'Client',
      workspace_id: h.first.workspace_slug,
    } as never);
    const collectionId = String(plain(collection).id);
    await workspace.collections.update(collectionId, { name: 'Client 2' });
    expect(plain(await workspace.collections.retrieve(collectionId)).name).toBe('Client 2');
    await workspace.collections.list({ workspace_id: h.first.workspace_slug } as never);

    const label = plain(await workspace.labels.create({ name: 'canary' } as never));
    const labelId = String(label.id);
    await workspace.labels.update(labelId, { description: 'd' });
    expect(plain(await workspace.labels.retrieve(labelId)).description).toBe('d');

    const prompt = plain(
      await workspace.prompts.create({
        name: 'Greeting',
        collection_id: collectionId,
        string: JSON.stringify([{ role: 'user', content: 'Hello {{name}}' }]),
        parameters: { temperature: 0 },
        virtual_key: 'demo',
        model: 'demo-model',
      } as never),
    );
    const slug = String(prompt.slug);
    expect(
      plain(await workspace.prompts.list({ collection_id: collectionId } as never)).total,
    ).toBe(1);
    await workspace.prompts.update(slug, {
      patch: true,
      string: JSON.stringify([{ role: 'user', content: 'Bye {{name}}' }]),
    } as never);
    await workspace.prompts.publish(slug, { version: 2 });
    const versions = Object.values(plain(await workspace.prompts.versions.list(slug)));
    expect(versions.length).toBeGreaterThanOrEqual(2);
    const versionId = String(prompt.version_id);
    await workspace.prompts.versions.update(slug, versionId, { label_id: labelId } as never);
    expect(
      plain(await workspace.prompts.versions.retrieve(slug, versionId)).prompt_version_label_id,
    ).toBe(labelId);
    const rendered = plain(
      await workspace.prompts.render({ promptID: slug, variables: { name: 'Ada' } } as never),
    );
    expect(JSON.stringify(rendered.data)).toContain('Bye Ada');
    const variables = { name: 'Ada' };
    const upstream = await startUpstream();
    upstream.handle(() => json(200, { object: 'chat.completion', choices: [{ index: 0 }] }));
    await workspace.integrations.create({
      name: 'Upstream',
      ai_provider_id: 'openai',
      key: 'sk',
      configurations: { custom_host: `${upstream.url}/v1` },
      create_default_provider: true,
      default_provider_slug: 'upstream',
    } as never);
    const asking = new Portkey({
      apiKey: h.first.workspace_key,
      baseURL: `${gateway.url}/v1`,
      provider: '@upstream',
    });
    const said: Record<string, string> = {};
    for (const reference of [
      String(prompt.id),
      ...['', '@1', '@2', '@latest', '@canary'].map((at) => slug + at),
    ]) {
      const { data } = plain(
        await workspace.prompts.render({ promptID: reference, variables } as never),
      ) as { data: { messages: { content: string }[] } };
      said[reference.replace(slug, '')] = data.messages[0]?.content ?? '';
      const { choices } = plain(
        await asking.prompts.completions.create({ promptID: reference, variables } as never),
      ) as { choices: unknown[] };
      expect(choices, reference).toHaveLength(1);
    }
    expect(said).toEqual({
      [String(prompt.id)]: 'Bye Ada',
      '': 'Bye Ada',
      '@1': 'Hello Ada',
      '@2': 'Bye Ada',
      '@latest': 'Bye Ada',
      '@canary': 'Hello Ada',
    });

    const partial = plain(
      await workspace.prompts.partials.create({ name: 'Sign', string: 'Yours' } as never),
    );
    const partialSlug = String(partial.slug);
    await workspace.prompts.partials.update(partialSlug, { string: 'Yours truly' } as never);
    await workspace.prompts.partials.publish(partialSlug, { version: 2 });
    expect(plain(await workspace.prompts.partials.retrieve(partialSlug)).string).toBe(
      'Yours truly',
    );
    await workspace.prompts.partials.delete(partialSlug);
    await workspace.labels.delete(labelId);
    const unlabelled = { promptID: `${slug}@canary`, variables } as never;
    for (const asked of [
      workspace.prompts.render(unlabelled),
      asking.prompts.completions.create(unlabelled),
    ])
      await expect(asked).rejects.toMatchObject({ status: 404 });
    await upstream.close();
    await workspace.prompts.delete(slug);
    await workspace.collections.delete(collectionId);
  });

  it('runs guardrails, feedback and log exports', async () => {
    const made = plain(
      await workspace.guardrails.create({
        name: 'Short',
        checks: [{ id: 'default.wordCount', parameters: { minWords: 1, maxWords: 5 } }],
        actions: {},
      } as never),
    );
    const guardrailId = String(made.slug);
    await workspace.guardrails.update({ guardrail_id: guardrailId, name: 'Shorter' } as never);
    expect(plain(await workspace.guardrails.retrieve({ guardrail_id: guardrailId })).name).toBe(
      'Shorter',
    );
    await workspace.guardrails.list({});
    await workspace.guardrails.delete({ guardrail_id: guardrailId });

    const feedback = plain(await workspace.feedback.create({ traceID: 't', value: 5 } as never));
    expect(feedback.feedback_ids).toHaveLength(1);

    const exported = plain(
      await workspace.logs.exports.create({
        filters: { time_of_generation_min: '2025-01-01T00:00:00Z' },
        requestedData: ['id', 'cost'],
      }),
    );
    const exportId = String(exported.id);
    expect(plain(await workspace.logs.exports.retrieve({ exportId }))).toMatchObject({
      status: 'draft',
      requested_data: ['id', 'cost'],
    });
    await workspace.logs.exports.list({} as never);
  });

  it('runs MCP integrations and servers', async () => {
    const made = plain(
      await workspace.mcpIntegrations.create({
        name: 'Tools',
        url: 'https://mcp.example.org/mcp',
        auth_type: 'none',
        transport: 'http',
      } as never),
    );
    const id = String(made.id);
    await workspace.mcpIntegrations.update({ id, description: 'd' } as never);
    expect(plain(await workspace.mcpIntegrations.retrieve({ id } as never)).description).toBe('d');
    const server = plain(
      await workspace.mcpServers.create({ name: 'Tools', mcp_integration_id: id } as never),
    );
    expect(plain(await workspace.mcpServers.list()).total).toBe(1);
    await workspace.mcpServers.delete({ id: String(server.id) } as never);
    await workspace.mcpIntegrations.delete({ id } as never);
  });

  it('is told of refusals as its library expects', async () => {
    await expect(workspace.admin.workspaces.create({ name: 'x' })).rejects.toMatchObject({
      status: 403,
    });
    await expect(
      new Portkey({ apiKey: 'nobody', baseURL: `${gateway.url}/v1` }).configs.list(),
    ).rejects.toMatchObject({ status: 401 });
  });
});
