import { afterAll, beforeAll, expect, it } from 'vitest';
import { lastEntries } from '../support/audit-trail.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** A script that is run again sends what is there already: that is no change, and is told to be none. */
let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const api = () => h.as(h.first.workspace_key);

type Fields = Record<string, unknown>;

const lastSequence = async () => (await lastEntries(h, 1))[0]?.sequence;

/**
 * @param sent    after which everything is as it was
 * @param changed after which it is not
 */
async function tellsThemApart(path: string, sent: readonly Fields[], changed: Fields) {
  const { body: before } = await api().get(path).expect(200);
  const sequence = await lastSequence();
  const answers: Fields[] = [];
  for (const body of sent) {
    const answer = await api().put(path, body).set('x-service-lenient-input', 'true').expect(200);
    expect(answer.headers).toMatchObject({ 'x-service-unchanged': 'true' });
    expect(answer.headers).not.toHaveProperty('x-service-changed');
    const { warnings: _warnings, ...others } = answer.body;
    answers.push(others);
  }
  expect((await api().get(path).expect(200)).body).toEqual(before);
  expect(await lastSequence()).toBe(sequence);
  const answer = await api().put(path, changed).expect(200);
  expect(answer.headers).not.toHaveProperty('x-service-unchanged');
  expect(await lastSequence()).not.toBe(sequence);
  return { before, answers, changed: answer.body };
}

it('a config keeps its version', async () => {
  const config = {
    retry: { attempts: 2 },
    targets: [{ provider: 'openai', api_key: 'sk-of-a-target', override_params: { a: 1, b: 2 } }],
  };
  const { body: made } = await api().post('/configs', { name: 'Same', config }).expect(200);
  const path = `/configs/${made.data.slug}`;
  const { body: read } = await api().get(path).expect(200);
  const { answers, changed } = await tellsThemApart(
    path,
    [{}, { config }, { name: 'Same', isDefault: 0, status: 'active' }, read.data],
    { config: { ...config, retry: { attempts: 3 } } },
  );
  for (const answer of answers)
    expect(answer).toEqual({ success: true, data: { version_id: made.data.version_id } });
  expect(changed.data.version_id).not.toBe(made.data.version_id);
  const { body: versions } = await api().get(`${path}/versions`).expect(200);
  expect(versions.total).toBe(2);
  const reordered = {
    ...config,
    targets: [{ ...config.targets[0], override_params: { b: 2, a: 1 } }],
  };
  const { body: other } = await api().put(path, { config: reordered }).expect(200);
  expect(other.data.version_id).not.toBe(changed.data.version_id);
});

it('a guardrail keeps its version', async () => {
  const checks = [
    { id: 'default.regexMatch', parameters: { rule: 'a+' } },
    {
      id: 'default.webhook',
      parameters: {
        webhookURL: 'https://checks.example.com',
        headers: { authorization: 'secret-1' },
      },
    },
  ];
  const { body: made } = await api()
    .post('/guardrails', { name: 'Same', checks, actions: { deny: true, async: false } })
    .expect(200);
  const path = `/guardrails/${made.id}`;
  const { body: read } = await api().get(path).expect(200);
  const { answers, changed } = await tellsThemApart(
    path,
    [{ name: 'Same' }, { checks }, { actions: { deny: true } }, read],
    { checks: checks.slice(0, 1) },
  );
  for (const answer of answers) expect(answer).toEqual(made);
  expect(changed.version_id).not.toBe(made.version_id);
});

it('a prompt keeps its version', async () => {
  const content = {
    string: 'Hello {{name}}',
    parameters: { temperature: 1 },
    virtual_key: 'demo',
    model: 'gpt-4o-mini',
    version_description: 'first',
  };
  const { body: made } = await api()
    .post('/prompts', { name: 'Same', collection_id: 'default', ...content })
    .expect(200);
  const path = `/prompts/${made.id}`;
  const { body: read } = await api().get(path).expect(200);
  const { answers, changed } = await tellsThemApart(
    path,
    [
      content,
      { ...content, version_description: undefined },
      { name: 'Same', virtual_key: '@demo' },
      { patch: true, string: content.string },
      read,
    ],
    { ...content, model: 'gpt-4o' },
  );
  for (const answer of answers)
    expect(answer).toEqual({ id: made.id, slug: made.slug, prompt_version_id: made.version_id });
  expect(changed.prompt_version_id).not.toBe(made.version_id);
  // Of what was not published yet, the same again is no third version.
  await tellsThemApart(path, [{ ...content, model: 'gpt-4o' }], { name: 'Another name' });
  expect((await api().get(`${path}/versions`).expect(200)).body).toHaveLength(2);
});

it('a partial keeps its version', async () => {
  const { body: made } = await api()
    .post('/prompts/partials', { name: 'Same', string: 'Hello', version_description: 'first' })
    .expect(200);
  const path = `/prompts/partials/${made.id}`;
  const { body: read } = await api().get(path).expect(200);
  const { answers } = await tellsThemApart(
    path,
    [{ string: 'Hello' }, { name: 'Same', description: 'first' }, read],
    { name: 'Other' },
  );
  for (const answer of answers)
    expect(answer).toEqual({ prompt_partial_version_id: made.version_id });
});

it('policies are as they were', async () => {
  const common = {
    conditions: [{ key: 'metadata.team', value: ['a', 'b'] }],
    group_by: [{ key: 'api_key' }],
    type: 'requests',
  };
  const rate = { ...common, unit: 'rpm', value: 5, shadow: true };
  const { body: limit } = await api().post('/policies/rate-limits', rate).expect(200);
  const atRate = `/policies/rate-limits/${limit.id}`;
  await tellsThemApart(
    atRate,
    [
      { value: 5 },
      { conditions: rate.conditions, unit: 'rpm', shadow: true },
      (await api().get(atRate)).body,
    ],
    { value: 6 },
  );
  const usage = {
    ...common,
    type: 'cost',
    credit_limit: 9,
    alert_threshold: 5,
    periodic_reset: 'weekly',
  };
  const { body: budget } = await api().post('/policies/usage-limits', usage).expect(200);
  const atUsage = `/policies/usage-limits/${budget.id}`;
  await tellsThemApart(
    atUsage,
    [
      { credit_limit: 9 },
      { periodic_reset: 'weekly', alert_threshold: 5 },
      (await api().get(atUsage)).body,
    ],
    { credit_limit: 9, reset_usage_for_value: 'somebody' },
  );
});
