import { scopesOf } from '@sluice/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCredentialVault } from '../../src/kernel/credentials/envelope.ts';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { holdsInClear } from '../support/holds-in-clear.ts';

let h: Harness;
let second: { id: string; slug: string; key: string };
beforeAll(async () => {
  h = await startHarness();
  const made = await admin().post('/admin/workspaces', { name: 'Second' }).expect(200);
  const row = await h.db.workspace.findFirstOrThrow({ where: { slug: made.body.slug } });
  second = { id: row.id, slug: row.slug, key: await createServiceKey(h, row.id) };
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const admin = () => h.as(h.first.admin_key);
const path = '/guardrails';
const hookSecret = 'secret-of-the-hook-1234567890';
const body = {
  name: 'Content safety',
  checks: [{ id: 'default.wordCount', parameters: { maxWords: 100 } }],
  actions: { deny: true },
};
const webhook = (headers: unknown, parameters: object = {}) => ({
  id: 'default.webhook',
  parameters: { webhookURL: 'https://hooks.example/check', headers, ...parameters },
});

type Made = { id: string; slug: string; version_id: string };

async function create(change: object = {}, caller = workspace()): Promise<Made> {
  const answer = await caller.post(path, { ...body, ...change });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

async function detail(reference: string, caller = workspace()) {
  return (await caller.get(`${path}/${reference}`).expect(200)).body;
}

/** What is sealed, as whoever runs the checks will open it. */
async function storedChecks(versionId: string) {
  const row = await h.db.guardrailVersion.findUniqueOrThrow({ where: { id: versionId } });
  const sealed = Buffer.from(row.sealedChecks);
  const address = { table: 'guardrail_versions', id: versionId };
  return JSON.parse(createCredentialVault(h.env.MASTER_KEY).open(sealed, address));
}

const strange = (name: string, meant: string) =>
  `${name}: is kept, and does nothing yet: nothing here has this name${meant}`;

describe('parameters of checks that do nothing', () => {
  it.each<[string, object, string[]]>([
    ['default.pii', { redcat: true }, [strange('redcat', '; did you mean redact?')]],
    ['default.contains', { words: ['a'], not: true }, [strange('not', '')]],
    ['default.pii', { restore: true }, ['restore: does nothing: what redact took out is put back']],
    ['default.modelWhitelist', { models: ['a'], subjects: ['all'] }, [strange('subjects', '')]],
    [
      'default.modelRules',
      { rules: { default: ['a'] } },
      [
        strange('rules.default', '; did you mean defaults?'),
        'rules: does nothing: neither defaults nor metadata name a model',
      ],
    ],
    [
      'default.bannedTopics',
      { topics: [{ name: 'a', words: ['b'], exmples: ['c'] }], similarity: 0.5 },
      [
        strange('topics[0].exmples', '; did you mean examples?'),
        'similarity: does nothing: it is of the examples of topics',
      ],
    ],
    ['patronus.isPolite', { redact: true }, [strange('redact', '')]],
  ])('are told of when %s is saved with %j', async (id, parameters, expected) => {
    const checks = [{ id, parameters }];
    const at = 'body.checks[0].parameters.';
    const told = (answer: { body: { warnings?: string[] } }) => answer.body.warnings ?? [];
    const made = await workspace()
      .post(path, { ...body, checks })
      .expect(200);
    expect(told(made)).toEqual(expected.map((line) => expect.stringContaining(at + line)));
    const changed = await workspace().put(`${path}/${made.body.id}`, { checks }).expect(200);
    expect(told(changed)).toEqual(told(made));
  });

  it('are those of no check alone: what whoever runs it reads is read of each', async () => {
    const parameters = { words: ['a'], timeout: 100, failOnError: true, soft_deny_200: true };
    const checks = [{ id: 'default.contains', parameters }];
    const made = await workspace()
      .post(path, { ...body, checks })
      .expect(200);
    expect(made.body.warnings).toBeUndefined();
  });

  it('are all of them, where they say nothing', async () => {
    const checks = [{ id: 'default.requestParametersCheck' }];
    const made = await workspace()
      .post(path, { ...body, checks })
      .expect(200);
    expect(made.body.warnings).toEqual([
      expect.stringContaining('body.checks[0].parameters: does nothing: neither tools nor params'),
    ]);
  });
});

describe('guardrails', () => {
  it('are found by id and both spellings of the slug, with every default filled in', async () => {
    const made = await create();
    expect(made).toEqual({
      id: expect.any(String),
      slug: expect.stringMatching(/^pg-conten-[0-9a-f]{6}$/),
      version_id: expect.any(String),
    });
    const summary = {
      id: made.id,
      name: 'Content safety',
      slug: made.slug,
      organisation_id: h.first.organisation_id,
      workspace_id: h.first.workspace_id,
      status: 'active',
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
      owner_id: expect.any(String),
      updated_by: expect.any(String),
    };
    for (const reference of [made.id, made.slug, made.slug.replace('pg-', 'guard_')])
      expect(await detail(reference)).toEqual({
        ...summary,
        checks: [
          {
            id: 'default.wordCount',
            parameters: { minWords: 0, maxWords: 100, not: false, subjects: ['last_message'] },
            is_enabled: true,
          },
        ],
        actions: {
          deny: true,
          async: false,
          sequential: false,
          on_success: { feedback: { value: 5, weight: 1, metadata: '' } },
          on_fail: { feedback: { value: -5, weight: 1, metadata: '' } },
        },
      });
    const list = await workspace().get(`${path}?ids=${made.id},pg-none`).expect(200);
    expect(list.body).toEqual({ data: [summary], total: 1 });
  });

  it.each([
    ['an unknown check', { checks: [{ id: 'default.magic' }] }, 'body.checks[0].id'],
    ['no checks', { checks: [] }, 'body.checks'],
    [
      "a parameter of the check's own missing",
      { checks: [{ id: 'default.wordCount' }, { id: 'default.regexMatch' }] },
      'body.checks[1].parameters.rule',
    ],
    [
      'a parameter that another check would take',
      { checks: [{ id: 'default.contains', parameters: { words: 'one' } }] },
      'body.checks[0].parameters.words',
    ],
    [
      'a pattern that cannot run',
      { checks: [{ id: 'default.regexMatch', parameters: { rule: '(' } }] },
      'body.checks[0].parameters.rule',
    ],
    [
      'a pattern to replace that cannot run',
      { checks: [{ id: 'default.regexReplace', parameters: { rule: '/(/g' } }] },
      'body.checks[0].parameters.rule',
    ],
    [
      'a pattern for metadata that cannot run',
      {
        checks: [
          {
            id: 'default.requiredMetadataKeyPairs',
            parameters: { metadataPairs: { team: '(' }, matchType: 'regex' },
          },
        ],
      },
      'body.checks[0].parameters.metadataPairs.team',
    ],
    [
      'a request type that is allowed and blocked',
      {
        checks: [
          {
            id: 'default.allowedRequestTypes',
            parameters: { allowedTypes: ['embed'], blockedTypes: ['embed'] },
          },
        ],
      },
      'body.checks[0].parameters',
    ],
    ['no actions', { actions: undefined }, 'body.actions'],
    ['actions of the samples', { actions: { onFail: 'block' } }, 'body.actions.onFail'],
    ['a denial in words', { actions: { on_fail: 'deny' } }, 'body.actions.on_fail'],
    [
      'feedback out of bounds',
      { actions: { on_fail: { feedback: { value: -11 } } } },
      'body.actions.on_fail.feedback.value',
    ],
  ])('cannot be made with %s', async (_case, change, field) => {
    const answer = await workspace().post(path, { ...body, ...change });
    expect([answer.status, answer.body.data.errorCode, answer.body.data.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
  });

  it('keep parameters that are not known', async () => {
    const checks = [{ id: 'default.wordCount', parameters: { from: 'a newer release' } }];
    expect((await detail((await create({ checks })).id)).checks[0].parameters).toEqual({
      from: 'a newer release',
      minWords: 0,
      maxWords: 99_999,
      not: false,
      subjects: ['last_message'],
    });
  });

  it('show secrets as masks, and keep them where a mask comes back', async () => {
    const partner = {
      id: 'aporia.validateProject',
      parameters: { projectID: 'p-1', credentials: { apiKey: hookSecret, region: 'eu' } },
    };
    const made = await create({
      checks: [webhook({ authorization: hookSecret, 'x-plain': 'short' }), partner],
    });
    const { checks } = await detail(made.id);
    expect(checks[0].parameters.headers).toEqual({
      authorization: expect.stringMatching(/^se\*+90$/),
      'x-plain': '*******',
    });
    expect(checks[1].parameters.credentials).toEqual({
      apiKey: expect.stringMatching(/^se\*+90$/),
      region: '*******',
    });
    expect(await holdsInClear(h, ['guardrails', 'guardrail_versions'], hookSecret)).toBe(false);

    const changed = structuredClone(checks).reverse();
    changed[1].parameters.headers['x-plain'] = 'another';
    changed[0].parameters.projectID = 'p-2';
    const answer = await workspace().put(`${path}/${made.id}`, { checks: changed }).expect(200);
    const stored = await storedChecks(answer.body.version_id);
    expect(stored[0].parameters).toMatchObject({ ...partner.parameters, projectID: 'p-2' });
    expect(stored[1].parameters.headers).toEqual({
      authorization: hookSecret,
      'x-plain': 'another',
    });
  });

  it('mask headers that are written as text, and nothing that only sounds secret', async () => {
    const checks = [
      webhook(JSON.stringify({ authorization: hookSecret })),
      { id: 'default.jsonKeys', parameters: { keys: ['a-name-of-a-key'], operator: 'all' } },
      {
        id: 'default.jwt',
        parameters: { jwksUri: 'https://login.example/jwks', headerKey: 'X-Authorization' },
      },
      {
        id: 'default.jsonSchema',
        parameters: { schema: { properties: { password: { type: 'string' } } } },
      },
    ];
    const shown = (await detail((await create({ checks })).id)).checks;
    expect(JSON.stringify(shown[0])).not.toContain(hookSecret);
    for (const index of [1, 2, 3])
      expect(shown[index].parameters).toMatchObject(checks[index]?.parameters ?? {});
  });

  it('get a version for every change of what runs, and none for a name', async () => {
    const made = await create();
    const one = `${path}/${made.id}`;
    const renamed = await workspace().put(one, { name: 'Renamed' }).expect(200);
    expect(renamed.body).toEqual(made);
    const second = await workspace()
      .put(one, { actions: { sequential: true } })
      .expect(200);
    expect(second.body.version_id).not.toBe(made.version_id);
    const checks = [{ id: 'default.notNull' }];
    await workspace().put(one, { checks }).expect(200);
    expect(await detail(made.id)).toMatchObject({
      name: 'Renamed',
      checks,
      actions: { deny: true, sequential: true },
    });
    const versions = await h.db.guardrailVersion.findMany({
      where: { guardrailId: made.id },
      orderBy: { version: 'asc' },
    });
    expect(versions.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(versions[0]?.id).toBe(made.version_id);
  });

  it('say what all checks together may take, how they deny, and that nothing is told of outcomes', async () => {
    const actions = {
      soft_deny_200: true,
      timeout: 500,
      max_text_length: 1000,
      on_success: { feedback: null },
    };
    const made = await create({ actions });
    expect((await detail(made.id)).actions).toMatchObject({
      ...actions,
      on_fail: { feedback: { value: -5 } },
    });
    const one = `${path}/${made.id}`;
    await workspace()
      .put(one, { actions: { timeout: null } })
      .expect(200);
    expect((await detail(made.id)).actions).toMatchObject({ ...actions, timeout: null });
    const wrong = await workspace().put(one, { actions: { timeout: 0 } });
    expect([wrong.status, wrong.body.data.field]).toEqual([400, 'body.actions.timeout']);
  });

  it('are told which of their actions do nothing beside the others, of a change beside those that stay', async () => {
    const checks = [{ id: 'default.contains', parameters: { operator: 'none', words: ['x'] } }];
    const actions = { deny: true, hold_chars: 100, stream_mode: 'end' };
    const made = await workspace().post('/guardrails', { name: 'Idle', checks, actions });
    expect(made.body.warnings).toEqual([
      expect.stringContaining('body.actions.hold_chars: does nothing: it is held only with'),
    ]);
    const path = `/guardrails/${made.body.id}`;
    const windowed = await workspace().put(path, { actions: { stream_mode: 'window' } });
    expect([windowed.status, windowed.body.warnings]).toEqual([200, undefined]);
    const async = await workspace()
      .put(path, { actions: { async: true } })
      .expect(200);
    expect(async.body.warnings.map((line: string) => line.split(':', 1)[0])).toEqual([
      'body.actions.deny',
      'body.actions.stream_mode',
      'body.actions.hold_chars',
    ]);
    const renamed = await workspace().put(path, { name: 'Idle still' }).expect(200);
    expect(renamed.body.warnings).toBeUndefined();
    await workspace().delete(path).expect(200);
  });

  it('that every request must pass need credentials, which no config can say for them', async () => {
    const checks = [{ id: 'lakera.guard' }];
    const ofWorkspace = await create({ checks });
    const ofOrganisation = await create({ checks }, admin());
    const one = `/admin/workspaces/${h.first.workspace_slug}`;
    const fieldsOf = async () => {
      const answers = [
        await admin().put(one, { defaults: { input_guardrails: [ofWorkspace.slug] } }),
        await admin().put('/admin/organisation/defaults', {
          output_guardrails: [ofOrganisation.slug],
        }),
      ];
      return answers.map(({ status, body: told }) => [status, told.data?.field]);
    };
    expect(await fieldsOf()).toEqual([
      [400, 'body.defaults.input_guardrails[0]'],
      [400, 'body.output_guardrails[0]'],
    ]);
    const complete = [{ id: 'lakera.guard', parameters: { credentials: { apiKey: 'k-1234567' } } }];
    for (const [{ id }, caller] of [
      [ofWorkspace, workspace()],
      [ofOrganisation, admin()],
    ] as const)
      await caller.put(`${path}/${id}`, { checks: complete }).expect(200);
    expect((await fieldsOf()).map(([status]) => status)).toEqual([200, 200]);
    const taken = await workspace().put(`${path}/${ofWorkspace.id}`, { checks });
    expect([taken.status, taken.body.data.field]).toEqual([
      400,
      'body.checks[0].parameters.credentials',
    ]);
    await admin()
      .put(one, { defaults: { input_guardrails: [] } })
      .expect(200);
    await admin().put('/admin/organisation/defaults', { output_guardrails: [] }).expect(200);
  });

  it('belong to a workspace or to the organisation, and lists keep them apart', async () => {
    const mine = await create();
    const elsewhere = await create({ workspace_id: second.slug }, admin());
    const ours = await create({ organisation_id: h.first.organisation_id }, admin());
    // A workspace key's own workspace is meant, whatever it sends.
    const forced = await create({ workspace_id: second.id });
    expect((await detail(ours.id, admin())).workspace_id).toBeNull();
    expect((await detail(elsewhere.id, admin())).workspace_id).toBe(second.id);
    expect((await detail(forced.id)).workspace_id).toBe(h.first.workspace_id);

    const all = [mine.id, elsewhere.id, ours.id, forced.id];
    const listed = async (caller: ReturnType<typeof admin>, query: string) => {
      const answer = await caller.get(`${path}?ids=${all}&${query}`).expect(200);
      expect(answer.body.total).toBe(answer.body.data.length);
      return new Set(answer.body.data.map((row: { id: string }) => row.id));
    };
    const organisation = `organisation_id=${h.first.organisation_id}`;
    expect(await listed(admin(), '')).toEqual(new Set(all));
    expect(await listed(admin(), `workspace_id=${second.slug}`)).toEqual(new Set([elsewhere.id]));
    expect(await listed(admin(), organisation)).toEqual(new Set([ours.id]));
    expect(await listed(admin(), `${organisation}&workspace_id=${second.id}`)).toEqual(
      new Set([elsewhere.id, ours.id]),
    );
    expect(await listed(workspace(), `workspace_id=${second.id}`)).toEqual(
      new Set([mine.id, forced.id]),
    );
    expect(await listed(workspace(), organisation)).toEqual(new Set([mine.id, forced.id]));
    await admin().get(`${path}?organisation_id=${h.other.organisation_id}`).expect(403);
  });

  it('are refused alike when they are not there and when they are out of reach', async () => {
    const mine = await create();
    const ours = await create({}, admin());
    const cases: [string, string][] = [
      [h.first.workspace_key, 'pg-none-000000'],
      [h.first.workspace_key, ours.id],
      [second.key, mine.slug],
      [h.other.admin_key, mine.id],
      [h.other.admin_key, ours.slug],
    ];
    for (const [key, reference] of cases) {
      const one = `${path}/${reference}`;
      const answers = [
        await h.as(key).get(one),
        await h.as(key).put(one, { name: 'Mine' }),
        await h.as(key).delete(one),
      ];
      for (const { status, body: refused } of answers)
        expect([status, refused.data.errorCode, refused.data.message]).toEqual([
          403,
          'AB03',
          'There is no such guardrail, or this key may not use it so.',
        ]);
    }
  });

  it('ask for the scopes of their level', async () => {
    const narrow = async (prefix: string) =>
      (
        await admin()
          .post('/api-keys/organisation/service', {
            name: 'Narrow',
            scopes: scopesOf('organisation-service').filter((scope) => scope.startsWith(prefix)),
          })
          .expect(200)
      ).body.key as string;
    const ofOrganisation = h.as(await narrow('organisation_guardrails.'));
    const ofWorkspaces = h.as(await narrow('guardrails.'));
    const ours = await create({}, ofOrganisation);
    const theirs = await create({ workspace_id: second.id }, ofWorkspaces);
    await ofOrganisation.post(path, { ...body, workspace_id: second.id }).expect(403);
    await ofWorkspaces.post(path, body).expect(403);
    await ofOrganisation.get(`${path}/${theirs.id}`).expect(403);
    await ofWorkspaces.get(`${path}/${ours.id}`).expect(403);
    const ids = `ids=${ours.id},${theirs.id}`;
    expect((await ofOrganisation.get(`${path}?${ids}`)).body.data[0].id).toBe(ours.id);
    expect((await ofWorkspaces.get(`${path}?${ids}`)).body.data[0].id).toBe(theirs.id);
    await ofOrganisation.get(`${path}?workspace_id=${second.id}`).expect(403);
  });

  it('cannot be deleted while something relies on them', async () => {
    const { id, slug } = await create();
    const one = `${path}/${id}`;
    const refused = async (what: string) => {
      const answer = await workspace().delete(one);
      expect([answer.status, answer.body.data.code]).toEqual([400, 'admin.refused']);
      expect(answer.body.data.message).toContain(what);
    };
    const inWorkspace = (inputGuardrails: string[]) =>
      h.db.workspace.update({ where: { id: second.id }, data: { inputGuardrails } });
    await inWorkspace([slug]);
    await refused('default of 1 workspace.');
    await inWorkspace([]);
    const inOrganisation = (outputGuardrails: string[]) =>
      h.db.organisation.update({
        where: { id: h.first.organisation_id },
        data: { outputGuardrails },
      });
    await inOrganisation([slug]);
    await refused('default of the organisation');
    await inOrganisation([]);
    const config = await workspace()
      .post('/configs', {
        name: 'Guarded',
        config: { provider: '@demo', input_guardrails: [slug] },
      })
      .expect(200);
    await refused('named by 1 active config.');
    await workspace()
      .put(`/configs/${config.body.data.slug}`, { config: { provider: '@demo' } })
      .expect(200);
    await workspace()
      .put(`/configs/${config.body.data.slug}`, {
        config: { provider: '@demo', output_guardrails: [`${slug}@1`] },
      })
      .expect(200);
    await refused('named by 1 active config.');
    await workspace().delete(`/configs/${config.body.data.slug}`).expect(200);
    const tools = {
      name: 'T',
      url: 'https://mcp.example.com/mcp',
      auth_type: 'none',
      transport: 'http',
    };
    const policy = (names: string[]) => ({ policy: { input_guardrails: names } });
    const { id: made } = (
      await workspace().post('/mcp-integrations', { ...tools, ...policy([id]) })
    ).body;
    const of = { name: 'S', mcp_integration_id: made, ...policy([`${slug}@1`]) };
    const server = await workspace().post('/mcp-servers', of).expect(200);
    await refused('named by 2 MCP integrations or servers.');
    await workspace().put(`/mcp-integrations/${made}`, { policy: null }).expect(200);
    await refused('named by 1 MCP integration or server.');
    await workspace().delete(`/mcp-servers/${server.body.id}`).expect(200);
    await workspace().delete(one).expect(200, {});
    await workspace().get(one).expect(403);
    expect(await h.db.guardrailVersion.count({ where: { guardrailId: id } })).toBe(0);
  });

  it('are audited with what was and is, and no secret', async () => {
    const made = await create({ checks: [webhook({ authorization: hookSecret })] });
    await workspace().put(`${path}/${made.id}`, { name: 'Other' }).expect(200);
    await workspace().delete(`${path}/${made.id}`).expect(200);
    const entries = await h.db.auditEntry.findMany({
      where: { resourceId: made.id },
      orderBy: { sequence: 'asc' },
    });
    expect(entries.map(({ action }) => action)).toEqual(['create', 'update', 'delete']);
    expect(entries[1]).toMatchObject({ workspaceId: h.first.workspace_id });
    expect(JSON.parse(entries[1]?.before ?? '')).toMatchObject({ name: 'Content safety' });
    expect(JSON.parse(entries[1]?.after ?? '')).toMatchObject({ name: 'Other' });
    expect(await holdsInClear(h, ['audit_entries'], hookSecret)).toBe(false);
  });
});
