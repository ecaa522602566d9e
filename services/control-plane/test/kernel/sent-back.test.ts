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
