import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

/** A script that reads, edits and writes back sends what it was shown, its switches as they were written there. */
let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const as = (key: 'workspace_key' | 'admin_key') => h.as(h.first[key]);

type Shown = Record<string, unknown>;

/** Without what every change stamps. */
const settled = ({ updated_at, last_updated_at, lastUpdatedAt, ...others }: Shown) => others;

async function sendsBack(path: string, more: Shown = {}) {
  const key = 'workspace_key';
  const { body: shown } = await as(key).get(path).expect(200);
  const answer = await as(key)
    .put(path, { ...shown, ...more })
    .set('x-service-lenient-input', 'true');
  expect(answer.status, answer.text).toBe(200);
  const { body: after } = await as(key).get(path).expect(200);
  return { shown: settled(shown), after: settled(after), answer: answer.body as Shown };
}

it('a key may be sent back as it is shown', async () => {
  const { body: key } = await as('workspace_key')
    .post('/api-keys/workspace/service', { name: 'Sent back', scopes: ['completions.write'] })
    .expect(200);
  const { shown, after } = await sendsBack(`/api-keys/${key.id}`);
  expect(shown.reset_usage).toBe(0);
  expect(after).toEqual(shown);
});

it('a provider may be sent back as it is shown', async () => {
  await as('workspace_key')
    .post('/integrations', {
      name: 'Sent back',
      slug: 'sent-back',
      ai_provider_id: 'openai',
      key: 'sk-sent-back',
      create_default_provider: true,
      default_provider_slug: 'sent-back',
    })
    .expect(200);
  const { shown, after } = await sendsBack('/providers/sent-back');
  expect(shown.reset_usage).toBe(0);
  expect(after).toEqual(shown);
});

it.each([false, true])('a prompt may be sent back as it is shown, raw or not (%s)', async (raw) => {
  const { body: prompt } = await as('workspace_key')
    .post('/prompts', {
      name: 'Sent back',
      collection_id: 'default',
      string: 'Hello',
      parameters: {},
      virtual_key: 'demo',
      is_raw_template: raw ? 1 : 0,
    })
    .expect(200);
  const { shown, after, answer } = await sendsBack(`/prompts/${prompt.id}`);
  expect(after).toEqual(shown);
  expect(answer.prompt_version_id).toBe(prompt.version_id);
  const { body: version } = await as('workspace_key')
    .get(`/prompts/${prompt.id}/versions/${answer.prompt_version_id}`)
    .expect(200);
  expect(version.is_raw_template).toBe(raw);
});

it('a server made of an integration may be sent back as it is shown', async () => {
  const { body: integration } = await as('workspace_key')
    .post('/mcp-integrations', {
      name: 'Sent back',
      url: 'https://mcp.example.com/mcp',
      auth_type: 'none',
      transport: 'http',
    })
    .expect(200);
  const { body: server } = await as('workspace_key')
    .post('/mcp-servers', { name: 'Sent back', mcp_integration_id: integration.id })
    .expect(200);
  const { shown, after } = await sendsBack(`/mcp-servers/${server.id}`);
  expect(shown).toMatchObject({ members: [], prefix: 'on_collision' });
  expect(after).toEqual(shown);
  const { body: merged } = await as('workspace_key')
    .post('/mcp-servers', { name: 'Merged', members: [{ server_id: server.id }] })
    .expect(200);
  const emptied = await as('workspace_key').put(`/mcp-servers/${merged.id}`, { members: [] });
  expect([emptied.status, emptied.text]).toEqual([400, expect.stringContaining('body.members')]);
});

it('the guardrails of all workspaces may be sent back as they are shown', async () => {
  const { body: guardrail } = await as('admin_key')
    .post('/guardrails', {
      name: 'Sent back',
      organisation_id: h.first.organisation_id,
      checks: [{ id: 'default.regexMatch', parameters: { rule: 'a+' } }],
      actions: {},
    })
    .expect(200);
  const path = '/admin/organisation/defaults';
  await as('admin_key')
    .put(path, { input_guardrails: [guardrail.slug] })
    .expect(200);
  const { body: shown } = await as('admin_key').get(path).expect(200);
  expect(shown.input_guardrails).toEqual([{ id: guardrail.id, slug: guardrail.slug }]);
  const answer = await as('admin_key').put(path, shown);
  expect(answer.status, answer.text).toBe(200);
  expect((await as('admin_key').get(path).expect(200)).body).toEqual(shown);
});

it('what does nothing beside the rest is told whoever sends it, or what makes it so, and nobody else', async () => {
  const told = async (answer: PromiseLike<{ status: number; body: Shown; text: string }>) => {
    const { status, body, text } = await answer;
    expect(status, text).toBe(200);
    return ((body.warnings ?? []) as string[]).map((line) => line.split(': does nothing: ', 1)[0]);
  };
  const caller = as('workspace_key');
  const headers = 'body.configurations.custom_headers';
  const integration = {
    name: 'Idle',
    slug: 'idle',
    url: 'https://mcp.example.com/mcp',
    auth_type: 'none',
    transport: 'http',
    configurations: { custom_headers: { 'x-key': 'of the server' } },
  };
  const path = '/mcp-integrations/idle';
  expect(await told(caller.post('/mcp-integrations', integration))).toEqual([headers]);
  expect(await told(caller.put(path, { name: 'Still idle' }))).toEqual([]);
  expect(await told(caller.put(path, { auth_type: 'headers' }))).toEqual([]);
  expect(await told(caller.put(path, { auth_type: 'oauth_auto' }))).toEqual([headers]);
  const { configurations } = (await caller.get(path).expect(200)).body;
  expect(await told(caller.put(path, { configurations }))).toEqual([headers]);

  const name = 'Idle alerts';
  const { body: key } = await caller
    .post('/api-keys/workspace/service', { name, scopes: ['completions.write'] })
    .expect(200);
  const alerts = { alert_emails: ['ann@example.org'] };
  const budget = { usage_limits: { type: 'cost', credit_limit: 5 } };
  const of = (body: object) => told(caller.put(`/api-keys/${key.id}`, body));
  expect(await of(alerts)).toEqual(['body.alert_emails']);
  expect(await of({ ...alerts, ...budget })).toEqual([]);
  expect(
    await of({ usage_limits: { type: 'tokens', credit_limit: 500, unpriced: 'refuse' } }),
  ).toEqual(['body.usage_limits.unpriced']);
  expect(await of({ usage_limits: null })).toEqual(['body.alert_emails']);
});
