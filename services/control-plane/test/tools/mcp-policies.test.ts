import { generateKeyPairSync } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { HeldSections } from '../support/held-sections.ts';

/** What admins say of MCP servers beside switches and user access, and what gateways hear of it. */

let h: Harness;
let integration: string;
beforeAll(async () => {
  h = await startHarness();
  integration = await newIntegration();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const admin = () => h.as(h.first.admin_key);

const settings = {
  name: 'Tools',
  url: 'https://mcp.example.com/mcp',
  auth_type: 'none',
  transport: 'http',
};
const newIntegration = async (change: object = {}) =>
  (
    await workspace()
      .post('/mcp-integrations', { ...settings, ...change })
      .expect(200)
  ).body.id as string;
const newServer = async (change: object = {}) =>
  (
    await workspace()
      .post('/mcp-servers', { name: 'S', mcp_integration_id: integration, ...change })
      .expect(200)
  ).body.id as string;

/** As a gateway hears of it that asks next. */
async function held(id: string): Promise<config.McpServer | undefined> {
  const sections = new HeldSections(h, h.first.workspace_id);
  await sections.refresh();
  const bytes = sections.sections.get('mcpServers')?.get(id);
  return bytes === undefined
    ? undefined
    : fromBinary(config.McpServerSchema, Buffer.from(bytes, 'base64'));
}

/** Why it is refused: the field, and what is said of it. */
async function refusal(method: 'post' | 'put', path: string, body: object) {
  const answer = await workspace()[method](path, body);
  expect(answer.status, answer.text).toBe(400);
  return JSON.stringify(answer.body);
}

describe('an integration', () => {
  it('and a server name guardrails that are there, or none of their calls would be let through', async () => {
    const guardrail = async (key: string, slug: string) => {
      const checks = [{ id: 'default.contains', parameters: { words: ['x'] } }];
      const body = { name: slug, slug, checks, actions: {} };
      await h.as(key).post('/guardrails', body).expect(200);
    };
    await guardrail(h.first.workspace_key, 'pg-tools');
    await guardrail(h.first.admin_key, 'pg-of-all');
    const policy = (...output_guardrails: string[]) => ({ policy: { output_guardrails } });
    const there = policy('pg-tools', 'guard_tools', 'pg-of-all', 'pg-tools@1');
    const id = await newIntegration(there);
    const server = await newServer({ mcp_integration_id: id, ...there });
    const gone = [
      ['pg-toolz', 'did you mean pg-tools?'],
      ['pg-tools@2', 'names no guardrail'],
    ] as const;
    for (const [name, text] of gone)
      for (const [method, path, body] of [
        ['post', '/mcp-integrations', settings],
        ['put', `/mcp-integrations/${id}`, {}],
        ['post', '/mcp-servers', { name: 'S', mcp_integration_id: id }],
        ['put', `/mcp-servers/${server}`, {}],
      ] as const) {
        const said = await refusal(method, path, { ...body, ...policy('pg-of-all', name) });
        expect(said).toContain('body.policy.output_guardrails[1]');
        expect(said).toContain(text);
      }
    // An organisation's may be in any workspace, where the guardrail of one is not.
    const ofAll = { ...settings, name: 'All' };
    const made = await admin().post('/mcp-integrations', { ...ofAll, ...policy('pg-of-all') });
    expect(made.status, made.text).toBe(200);
    for (const [name, text] of [
      ['pg-tools', /is a guardrail of one workspace.*policy of its server there/],
      ['pg-none', /names no guardrail.*there are pg-of-all/],
    ] as const)
      for (const [method, path, body] of [
        ['post', '/mcp-integrations', ofAll],
        ['put', `/mcp-integrations/${made.body.id}`, {}],
      ] as const) {
        const answer = await admin()[method](path, { ...body, ...policy('pg-of-all', name) });
        expect(answer.status, answer.text).toBe(400);
        expect(answer.body.data).toMatchObject({
          field: 'body.policy.output_guardrails[1]',
          message: expect.stringMatching(text),
        });
      }
  });

  it('has settings of ours, which are shown, changed one by one, sent and audited', async () => {
    const id = await newIntegration({
      new_capabilities: 'disabled',
      on_drift: 'block',
      policy: { denied_as: 'unknown', max_result_bytes: 2048 },
      prices: { call: 0.5, tools: { add: { call: 1 } } },
    });
    const path = `/mcp-integrations/${id}`;
    const server = await newServer({ mcp_integration_id: id });
    const read = async () => (await workspace().get(path).expect(200)).body;
    expect(await read()).toMatchObject({
      new_capabilities: 'disabled',
      on_drift: 'block',
      policy: { denied_as: 'unknown', max_result_bytes: 2048 },
      prices: { call: 0.5, tools: { add: { call: 1 } } },
    });
    await workspace().put(path, { on_drift: 'hide' }).expect(200);
    await workspace().put(path, { policy: null }).expect(200);
    expect(await read()).toMatchObject({
      new_capabilities: 'disabled',
      on_drift: 'hide',
      policy: {},
      prices: { call: 0.5 },
    });
    expect(await held(server)).toMatchObject({ newCapabilities: 'disabled', onDrift: 'hide' });
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { resourceId: id },
      orderBy: { sequence: 'desc' },
    });
    expect(JSON.parse(entry.before ?? '')).toMatchObject({ policy: { denied_as: 'unknown' } });
    expect(JSON.parse(entry.after ?? '')).toMatchObject({ policy: {} });
  });

  it('turns off what is switched for the first time only where that is said', async () => {
    const id = await newIntegration({ new_capabilities: 'disabled' });
    const server = await newServer({ mcp_integration_id: id });
    // What nobody has seen there is not on because a server says so.
    await workspace()
      .put(`/mcp-servers/${server}/capabilities`, {
        capabilities: [{ type: 'tool', name: 'add', enabled: true }],
      })
      .expect(200);
    expect((await held(server))?.capabilities).toMatchObject([{ name: 'add', enabled: false }]);
    await workspace()
      .put(`/mcp-integrations/${id}/capabilities`, {
        capabilities: [{ type: 'tool', name: 'add', enabled: true }],
      })
      .expect(200);
    expect((await held(server))?.capabilities).toMatchObject([{ name: 'add', enabled: true }]);
  });

  it('tells who asks for tokens of users by keys that verify none', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const usable = { ...publicKey.export({ format: 'jwk' }), kid: 'one' };
    const warned = async (...keys: object[]) => {
      const configurations = { jwt_validation: { jwks: { keys } } };
      const made = await workspace().post('/mcp-integrations', { ...settings, configurations });
      expect(made.status, made.text).toBe(200);
      const changed = await workspace().put(`/mcp-integrations/${made.body.id}`, {
        configurations,
      });
      expect(changed.body.warnings).toEqual(made.body.warnings);
      return made.body.warnings;
    };
    const field = 'body.configurations.jwt_validation.jwks';
    const none = `${field}: no call is let in: it has no key that can be used`;
    expect(await warned()).toEqual([none]);
    expect(await warned({ kty: 'EC' })).toEqual([`${none}; keys[0] has no kid`]);
    expect(await warned(usable, { kty: 'EC' })).toEqual([
      `${field}.keys[1]: does nothing: has no kid`,
    ]);
    expect(await warned(usable)).toBeUndefined();
  });

  it.each<[string, object, RegExp]>([
    ['stdio', { transport: 'stdio' }, /body\.transport.*run the server beside/],
    ['a command', { command: 'npx', args: ['x'] }, /body\.command.*run the server beside/],
    ['one in its settings', { configurations: { command: 'npx' } }, /configurations\.command/],
    ['another transport', { transport: 'ws' }, /body\.transport.*must be one of http, sse/],
    ['an unknown reaction', { on_drift: 'ignore' }, /body\.on_drift/],
    ['a negative price', { prices: { call: -1 } }, /body\.prices\.call/],
    ['a policy nobody knows', { policy: { acces: {} } }, /body\.policy/],
    ['a result of no size', { policy: { max_result_bytes: 1 } }, /max_result_bytes/],
    [
      'a bound below the timeout',
      { policy: { request_timeout: 10, request_timeout_max: 5 } },
      /request_timeout_max/,
    ],
    [
      'a rule about what is no field',
      { policy: { access: { rules: [{ effect: 'deny', query: { 'headers.cookie': 'x' } }] } } },
      /body\.policy\.access\.rules\[0\]\.query\.headers\.cookie/,
    ],
    [
      'a rule that could take for ever',
      {
        policy: {
          access: {
            rules: [{ effect: 'deny', query: { 'capability.name': { $regex: '(a+)+$' } } }],
          },
        },
      },
      /\$regex/,
    ],
  ])('refuses %s', async (_name, change, why) => {
    expect(await refusal('post', '/mcp-integrations', { ...settings, ...change })).toMatch(why);
    const changed = `/mcp-integrations/${integration}`;
    expect(await refusal('put', changed, { name: 'T', ...change })).toMatch(why);
  });
});

describe('a server', () => {
  it('adds to what its integration says: each level must allow, and the lower bound counts', async () => {
    const wide = { deny: ['delete_*'] };
    const narrow = {
      allow: [{ type: 'tool', name: 'get_*' }],
      rules: [{ effect: 'deny', query: { 'claims.role': 'guest' } }],
    };
    const id = await newIntegration({
      policy: { access: wide, max_result_bytes: 4096, request_timeout: 1000 },
    });
    const policy = { access: narrow, max_result_bytes: 8192, request_timeout: 500 };
    const server = await newServer({ mcp_integration_id: id, policy });
    expect(JSON.parse((await held(server))?.policyJson ?? '')).toEqual({
      access: [{ deny: [{ name: 'delete_*' }] }, narrow],
      max_result_bytes: 4096,
      request_timeout: 500,
    });
    const { body } = await workspace().get(`/mcp-servers/${server}`).expect(200);
    expect(body.policy).toEqual(policy);
  });

  it('shows capabilities as it likes, until that is taken back', async () => {
    const server = await newServer();
    const path = `/mcp-servers/${server}/capabilities`;
    const tool = { type: 'tool', name: 'create_issue', enabled: true };
    const shown = {
      renamed_to: 'new_ticket',
      described_as: 'Makes a ticket.',
      fixed_arguments: { project: 'ABC' },
      hidden_arguments: ['project'],
    };
    await workspace()
      .put(path, { capabilities: [{ ...tool, ...shown }] })
      .expect(200);
    expect((await workspace().get(path)).body.data).toMatchObject([shown]);
    expect((await held(server))?.capabilities).toMatchObject([
      {
        name: 'create_issue',
        renamedTo: 'new_ticket',
        description: 'Makes a ticket.',
        fixedArgumentsJson: '{"project":"ABC"}',
        hiddenArguments: ['project'],
      },
    ]);
    await workspace()
      .put(path, { capabilities: [{ ...tool, renamed_to: null }] })
      .expect(200);
    expect((await held(server))?.capabilities).toMatchObject([
      { renamedTo: '', description: 'Makes a ticket.' },
    ]);
    const other = { type: 'tool', name: 'close_issue', enabled: true };
    for (const [entry, why] of [
      [{ ...other, renamed_to: 'create_issue' }, /another tool of this server/],
      [{ ...other, renamed_to: 'has space' }, /renamed_to/],
      [{ ...other, renamed_to: 'x'.repeat(65) }, /renamed_to/],
      [{ ...other, type: 'resource', renamed_to: 'x' }, /tool and prompt only/],
      [{ ...other, type: 'prompt', fixed_arguments: {} }, /tool only/],
    ] as const)
      expect(await refusal('put', path, { capabilities: [entry] })).toMatch(why);
    // What is refused leaves nothing behind.
    expect((await held(server))?.capabilities).toHaveLength(1);
  });

  it.each(['docs', 'health', 'metrics', 'oauth', 'model-configs', 'Docs', 'v0.1', 'v1'])(
    'is not called %s',
    async (slug) => {
      const body = { name: 'S', slug, mcp_integration_id: integration };
      expect(await refusal('post', '/mcp-servers', body)).toMatch(/body\.slug/);
    },
  );
});

describe('a merged server', () => {
  it('is made of servers of its workspace, which stay while it is made of them', async () => {
    const [one, two] = [await newServer({ slug: 'member-one' }), await newServer()];
    const members = [{ server_id: 'member-one', tools: ['add'] }, { server_id: two }];
    const { body: made } = await workspace()
      .post('/mcp-servers', { name: 'All', members, prefix: 'always', exposure: 'search' })
      .expect(200);
    expect((await workspace().get(`/mcp-servers/${made.id}`)).body).toMatchObject({
      mcp_integration_id: null,
      mcp_integration_details: null,
      members: [
        { server_id: one, tools: ['add'] },
        { server_id: two, tools: [] },
      ],
      prefix: 'always',
      exposure: 'search',
    });
    const { data } = (await workspace().get(`/mcp-servers?id=${made.id}`)).body;
    expect(data).toMatchObject([{ auth_type: null, url: expect.stringMatching(/\/mcp$/) }]);
    expect(await held(made.id)).toMatchObject({
      integrationId: '',
      url: '',
      enabled: true,
      prefix: 'always',
      exposure: 'search',
      members: [
        { serverId: one, tools: ['add'] },
        { serverId: two, tools: [] },
      ],
    });
    expect((await workspace().get(`/mcp-servers/${made.id}/metadata`)).body.sync_status).toBeNull();
    expect((await workspace().post(`/mcp-servers/${made.id}/test`)).status).toBe(400);
    const { body: registry } = await h.atRoot(h.first.workspace_key).get('/v0.1/servers');
    expect(JSON.stringify(registry)).toContain(`/${made.slug}`);
    const kept = await workspace().delete(`/mcp-servers/${one}`).expect(400);
    expect(JSON.stringify(kept.body)).toContain(`take it out of ${made.slug} first`);
    // Whichever other way it goes.
    await h.db.mcpServer.delete({ where: { id: one } });
    await workspace().put(`/mcp-servers/${made.id}`, { name: 'Rest' }).expect(200);
    expect((await held(made.id))?.members).toMatchObject([{ serverId: two }]);
    await workspace().put(`/mcp-servers/${made.id}`, { prefix: 'never' }).expect(200);
    expect(await held(made.id)).toMatchObject({ prefix: 'never', exposure: 'search' });
  });

  it('is made of nothing else', async () => {
    const plain = await newServer();
    const members = [{ server_id: plain }];
    const { body: merged } = await workspace().post('/mcp-servers', { name: 'M', members });
    const { body: beside } = await admin()
      .post('/admin/workspaces', { name: 'Beside' })
      .expect(200);
    const { id } = await h.db.workspace.findFirstOrThrow({ where: { slug: beside.slug } });
    const there = h.as(await createServiceKey(h, id));
    const { body: foreign } = await there.post('/mcp-integrations', settings).expect(200);
    const { body: elsewhere } = await there
      .post('/mcp-servers', { name: 'S', mcp_integration_id: foreign.id })
      .expect(200);
    const post = (body: object) => refusal('post', '/mcp-servers', { name: 'M', ...body });
    const put = (of: string, body: object) => refusal('put', `/mcp-servers/${of}`, body);
    expect(await post({ members: [{ server_id: elsewhere.id }] })).toMatch(
      /no server of this work/,
    );
    expect(await post({ members: [{ server_id: merged.id }] })).toMatch(/made of other servers/);
    expect(await put(merged.id, { members: [{ server_id: merged.slug }] })).toMatch(
      /made of other/,
    );
    expect(await post({ members: [...members, ...members] })).toMatch(/a member already/);
    expect(await post({ members: [] })).toMatch(/body\.members/);
    expect(await post({})).toMatch(/or members in its place/);
    expect(await post({ members, mcp_integration_id: integration })).toMatch(/or members in its/);
    expect(await put(plain, { members })).toMatch(/only for a server that is made of others/);
    expect(await put(plain, { prefix: 'never' })).toMatch(/only for a server that is made of/);
  });
});

describe('the address of a server', () => {
  it('is never a host that a caller wrote, unless it is on loopback', async () => {
    await newServer({ slug: 'addressed' });
    const urlAt = async (host: string, path = '/mcp-servers?id=addressed') =>
      (await workspace().get(path).set('host', host).expect(200)).body.data[0].url;
    expect(await urlAt('localhost:8787')).toBe('http://localhost:8787/addressed/mcp');
    expect(await urlAt('evil.example')).toBe('/addressed/mcp');
    const named = await h.replica({ MCP_GATEWAY_BASE_URL: 'https://mcp.example.com' });
    const answer = await fetch(`http://127.0.0.1:${named.httpPort}/v1/mcp-servers?id=addressed`, {
      headers: { 'x-service-api-key': h.first.workspace_key },
    });
    const { data } = (await answer.json()) as { data: { url: string }[] };
    expect(data[0]?.url).toBe('https://mcp.example.com/addressed/mcp');
  });
});

describe('a policy about tools', () => {
  const policy = { type: 'requests', unit: 'rpm', value: 5, conditions: [] };

  it('may have no condition, and is about every call then', async () => {
    const path = '/policies/rate-limits';
    const { body } = await workspace()
      .post(path, { ...policy, target: 'mcp_tools' })
      .expect(200);
    await workspace()
      .put(`${path}/${body.id}?allow_missing=true`, {
        conditions: [{ key: 'mcp_server', value: 'x' }],
      })
      .expect(200);
    await workspace().put(`${path}/${body.id}`, { conditions: [] }).expect(200);
    expect((await workspace().get(`${path}/${body.id}`)).body.conditions).toEqual([]);
  });

  it('is alone in that', async () => {
    const llm = { ...policy, group_by: [{ key: 'api_key' }] };
    expect(await refusal('post', '/policies/rate-limits', llm)).toMatch(/body\.conditions/);
    const conditions = [{ key: 'api_key', value: '*' }];
    const { body } = await workspace().post('/policies/rate-limits', { ...llm, conditions });
    const path = `/policies/rate-limits/${body.id}`;
    expect(await refusal('put', path, { conditions: [] })).toMatch(/body\.conditions/);
  });
});
