import { eventually, freshName, json, type Upstream } from '@sluice/testkit';
import type OpenAI from 'openai';
import { expect, it } from 'vitest';
import {
  answersSlowly,
  line,
  linesIn,
  manyLines,
  type OutputLine,
  question,
} from './batch-lines.ts';
import { chatReply, type Scenario } from './scenario.ts';

type Batch = Awaited<ReturnType<OpenAI['batches']['retrieve']>>;

interface Ruled {
  readonly scenario: () => Scenario;
  readonly clientOf: (key: string) => OpenAI;
  readonly makeBatch: (
    lines: readonly string[],
    over: { by?: OpenAI; options?: object },
  ) => Promise<Batch>;
  readonly ended: (id: string, status: Batch['status'], by: OpenAI) => Promise<Batch>;
}

/** What binds requests binds lines of batches that gateways run: none of it is left out, and nothing is spent where it refuses. */
export function provesBatchRules({ scenario, clientOf, makeBatch, ended }: Ruled): void {
  const upstream = (): Upstream => scenario().upstream;
  const admin: Scenario['admin'] = (...args) => scenario().admin(...args);
  const manage = async (method: string, path: string, body: object, key: string) => {
    const response = await scenario().call(`/v1${path}`, { method, host: null, key, body });
    expect(response.status, await response.clone().text()).toBe(200);
    return (await response.json()) as { id: string; slug: string };
  };

  const newKey = (fields: object = {}) =>
    admin<{ id: string; key: string }>('POST', '/api-keys/workspace/service', {
      name: `of a rule ${Math.random()}`,
      scopes: ['completions.write'],
      workspace_id: scenario().stack.credentials.workspace_id,
      ...fields,
    });

  /** A workspace with a key that may spend, and one that may manage. */
  async function newWorkspace(body: object = {}) {
    const { id, slug } = await admin<{ id: string; slug: string }>('POST', '/admin/workspaces', {
      name: `Ruled ${Math.random()}`,
      ...body,
    });
    return { id, slug, key: (await newKey({ workspace_id: id })).key };
  }

  /** Of the workspace of the scenario; models = those it is limited to. */
  async function savedProvider(name: string, models?: readonly string[]): Promise<string> {
    const slug = freshName(name);
    const { workspace_key: key } = scenario().stack.credentials;
    await manage(
      'POST',
      '/integrations',
      {
        name: slug,
        slug,
        ai_provider_id: 'openai',
        key: 'sk-of-rules',
        configurations: { custom_host: `${upstream().url}/v1` },
        create_default_provider: false,
      },
      key,
    );
    if (models !== undefined)
      await manage(
        'PUT',
        `/integrations/${slug}/models`,
        { allow_all_models: false, models: models.map((name) => ({ slug: name, enabled: true })) },
        key,
      );
    await manage('POST', '/providers', { name: slug, slug, integration_id: slug }, key);
    return `@${slug}`;
  }

  const inline = (over: object = {}) => ({
    provider: 'openai',
    api_key: 'sk-of-rules',
    custom_host: `${upstream().url}/v1`,
    ...over,
  });

  /** All lines of a batch that has completed, by their custom_id. */
  async function run(
    lines: readonly string[],
    options: object,
    key = scenario().stack.credentials.workspace_key,
  ): Promise<Map<string, OutputLine>> {
    const by = clientOf(key);
    const { id } = await makeBatch(lines, { by, options });
    await ended(id, 'completed', by);
    return outputOf(id, key);
  }

  async function outputOf(id: string, key: string): Promise<Map<string, OutputLine>> {
    const output = await scenario().call(`/v1/batches/${id}/output`, {
      method: 'GET',
      host: null,
      key,
    });
    expect(output.status).toBe(200);
    return new Map(linesIn(await output.text()).map((each) => [each.custom_id, each]));
  }

  const statuses = (lines: Map<string, OutputLine>) =>
    Object.fromEntries([...lines].map(([id, { response }]) => [id, response?.status_code]));
  const codeOf = (each: OutputLine | undefined) =>
    (each?.response?.body.error as { code?: string } | undefined)?.code;
  const answering = () => upstream().handle(json(200, chatReply));

  it('asks a provider only for models that it is limited to', async () => {
    answering();
    const provider = await savedProvider('batch-limited', ['gpt-4o-mini']);
    const before = upstream().requests.length;
    const lines = await run(
      [
        line('listed', question('Hi')),
        line('other', { ...question('Hi'), model: 'gpt-4o' }),
        line('named', { ...question('Hi'), model: `${provider}/gpt-4o` }),
      ],
      { provider },
    );
    expect(statuses(lines)).toEqual({ listed: 200, other: 403, named: 403 });
    expect(upstream().requests.length - before).toBe(1);
  });

  it('is checked by its config and by what is enforced: 246, 446, and nothing is asked', async () => {
    answering();
    const contains = (words: string[], deny: boolean) => ({
      'default.contains': { operator: 'none', words, subjects: ['all'] },
      deny,
    });
    const before = upstream().requests.length;
    const config = inline({
      input_guardrails: [contains(['forbidden'], true), contains(['noted'], false)],
    });
    const lines = await run(
      ['plain', 'noted', 'forbidden'].map((word) => line(word, question(`a ${word} word`))),
      { config },
    );
    expect(statuses(lines)).toEqual({ plain: 200, noted: 246, forbidden: 446 });
    expect(lines.get('noted')?.response?.body).toHaveProperty('hook_results');
    expect(upstream().requests.length - before).toBe(2);

    const { slug, id, key } = await newWorkspace();
    const { slug: guardrail } = await admin<{ slug: string }>('POST', '/guardrails', {
      name: 'Enforced on lines',
      workspace_id: id,
      checks: [{ id: 'default.regexMatch', parameters: { rule: 'secret plan', not: true } }],
      actions: { deny: true },
    });
    await admin('PUT', `/admin/workspaces/${slug}`, {
      defaults: { input_guardrails: [guardrail] },
    });
    const enforced = await run(
      [line('fine', question('Hi')), line('secret', question('the secret plan'))],
      { config: inline() },
      key,
    );
    expect(statuses(enforced)).toEqual({ fine: 200, secret: 446 });
  });

  it('is led nowhere that requests may not go', async () => {
    const before = upstream().requests.length;
    const metadata = await run([line('metadata', question('Hi'))], {
      config: inline({ custom_host: 'http://169.254.169.254/v1' }),
    });
    expect(statuses(metadata)).toEqual({ metadata: 400 });
    expect(codeOf(metadata.get('metadata'))).toMatch(/^host\./);
    expect(upstream().requests.length).toBe(before);
  });

  it('brings no config of its own in saved-only mode', async () => {
    const settings = (block_inline_config: boolean) =>
      admin('PUT', '/admin/organisation/settings', {
        data_plane_security_settings: { block_inline_config },
      });
    await settings(true);
    try {
      const before = upstream().requests.length;
      const lines = await run([line('inline', question('Hi'))], { config: inline() });
      expect(codeOf(lines.get('inline'))).toBe('inline_config_blocked');
      expect(upstream().requests.length).toBe(before);
    } finally {
      await settings(false);
    }
  });

  it('is tried again where its provider is asked too much, and told when that does not help', async () => {
    const refusals = new Map<string, number>();
    upstream().handle((request) => {
      const [message] = (request.json() as { messages: { content: string }[] }).messages;
      const text = message?.content ?? '';
      const times = (refusals.get(text) ?? 0) + 1;
      refusals.set(text, times);
      const isEnough = text === 'twice' && times > 2;
      if (isEnough) return json(200, chatReply);
      return json(429, { error: { message: 'Slow down.' } }, { 'retry-after': '0' });
    });
    const lines = await run([line('twice', question('twice')), line('ever', question('ever'))], {
      config: inline(),
    });
    expect(statuses(lines)).toEqual({ twice: 200, ever: 429 });
    expect(Object.fromEntries(refusals)).toEqual({ twice: 3, ever: 4 });
  });

  it('pauses when the budget of its key is spent, and goes on when that is raised', async () => {
    answering();
    const { id, key } = await newKey({ usage_limits: { type: 'tokens', credit_limit: 2000 } });
    const by = clientOf(key);
    const lines = Array.from({ length: 6 }, (_, at) => line(`paid ${at}`, question(`paid ${at}`)));
    const before = upstream().requests.length;
    const batch = await makeBatch(lines, { by, options: { config: inline() } });
    await eventually(() => expect(upstream().requests.length - before).toBeGreaterThan(1));
    await admin('PUT', `/api-keys/${id}`, {
      usage_limits: { type: 'tokens', credit_limit: 100_000 },
    });
    const end = await ended(batch.id, 'completed', by);
    const failed = [...(await outputOf(end.id, key)).values()].filter(
      ({ response }) => response?.status_code !== 200,
    );
    expect(failed).toEqual([]);
    expect(end.request_counts).toEqual({ total: 6, completed: 6, failed: 0 });
    expect(upstream().requests.length - before).toBe(6);
  });

  it('stops when its key is suspended, and when it expires', async () => {
    upstream().handle(answersSlowly(200));
    const suspended = await newKey();
    const expiring = await newKey();
    const lines = Array.from({ length: manyLines }, (_, at) =>
      line(`key ${at}`, question(`${at}`)),
    );
    const options = { config: inline() };
    const [first, second] = await Promise.all(
      [suspended, expiring].map(({ key }) => makeBatch(lines, { by: clientOf(key), options })),
    );
    const own = clientOf(scenario().stack.credentials.workspace_key);
    await eventually(async () =>
      expect((await own.batches.retrieve(first!.id)).request_counts?.completed).toBeGreaterThan(0),
    );
    await admin('POST', `/api-keys/${suspended.id}/suspend`, {});
    const soon = new Date(Date.now() + 500).toISOString();
    await admin('PUT', `/api-keys/${expiring.id}`, { expires_at: soon });
    for (const { id } of [first!, second!]) {
      const end = await ended(id, 'failed', own);
      expect(end.errors?.data).toMatchObject([{ code: 'key_ended' }]);
      const { total, completed, failed } = end.request_counts!;
      expect(completed).toBeLessThan(manyLines);
      // What was not run can be tried again.
      expect([total, completed + failed]).toEqual([manyLines, manyLines]);
      const told = await (await own.files.content(end.error_file_id ?? '')).text();
      expect(told.match(/"code":"key_ended"/g)).toHaveLength(failed);
    }
  });

  it('is made anew of the lines that failed, and of no others', async () => {
    const { workspace_key: key } = scenario().stack.credentials;
    const by = clientOf(key);
    let isMended = false;
    upstream().handle((request) => {
      const isBad = JSON.stringify(request.json()).includes('bad');
      return isBad && !isMended ? json(400, { error: { message: 'No.' } }) : json(200, chatReply);
    });
    const options = { config: inline() };
    const lines = ['good 1', 'bad 1', '', 'good 2', 'bad 2'].map((each) =>
      each === '' ? '' : line(each, question(each)),
    );
    const batch = await makeBatch(lines, { by, options });
    const retry = (body: object) =>
      scenario().call('/v1/batches', {
        host: null,
        key,
        body: { ...body, service_options: options },
      });
    const early = await retry({ retry_of: batch.id, completion_window: 'immediate' });
    expect(early.status).toBe(400);
    await ended(batch.id, 'completed', by);
    const before = upstream().requests.length;
    isMended = true;
    const made = await retry({ retry_of: batch.id, completion_window: 'immediate' });
    expect(made.status, await made.clone().text()).toBe(200);
    const { id } = (await made.json()) as Batch;
    const end = await ended(id, 'completed', by);
    expect(end.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
    expect(statuses(await outputOf(id, key))).toEqual({ 'bad 1': 200, 'bad 2': 200 });
    expect(upstream().requests.length - before).toBe(2);
    const again = await retry({ retry_of: id, completion_window: 'immediate' });
    expect([again.status, (await again.json()) as object]).toMatchObject([
      400,
      { error: { param: 'body.retry_of' } },
    ]);
    const others = await newWorkspace();
    const theirs = await scenario().call('/v1/batches', {
      host: null,
      key: others.key,
      body: { retry_of: batch.id, completion_window: 'immediate' },
    });
    expect(theirs.status).toBe(404);
    await by.files.delete((await by.batches.retrieve(batch.id)).error_file_id ?? '');
    const gone = await retry({ retry_of: batch.id, completion_window: '1h' });
    const failed = await ended(((await gone.json()) as Batch).id, 'failed', by);
    expect(failed.errors?.data).toMatchObject([{ code: 'error_file_gone' }]);
  });
}
