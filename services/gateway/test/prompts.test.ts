import { errorBodies } from '@sluice/contracts/admin';
import { eventually, json, sse } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type NamedUpstream, startLab, type Trial } from './lab.ts';
import { chatReply, errorOf } from './scenario.ts';

let lab: Lab;
let trial: Trial;
let upstream: NamedUpstream;
let provider: string;
beforeAll(async () => {
  lab = await startLab();
  trial = lab.trial();
  upstream = await trial.upstream('model', json(200, chatReply));
  provider = await lab.saveProvider({
    aiProviderId: 'openai',
    key: 'sk-model',
    customHost: `${upstream.url}/v1`,
  });
});
afterAll(async () => {
  await trial.close();
  await lab.stop();
});

interface Made {
  id: string;
  slug: string;
  version_id: string;
}

const content = (text: string) => JSON.stringify([{ role: 'user', content: text }]);

async function savePrompt(string: string, over: object = {}): Promise<Made> {
  const made = await lab.manage<Made>('POST', '/prompts', {
    name: 'Saved',
    collection_id: 'default',
    string,
    parameters: { temperature: 0.5, stream: true },
    model: 'gpt-4o-mini',
    virtual_key: provider,
    ...over,
  });
  await known(`${made.slug}`);
  return made;
}

const call = (reference: string, what: 'render' | 'completions', body: object, over = {}) =>
  lab.scenario.call(`/v1/prompts/${encodeURIComponent(reference)}/${what}`, {
    host: null,
    body,
    ...over,
  });

async function render(reference: string, body: object = { variables: {} }) {
  const response = await call(reference, 'render', body);
  const answer = (await response.json()) as { success: boolean; data: Record<string, unknown> };
  expect([response.status, answer.success]).toEqual([200, true]);
  return answer.data;
}

/** Gateways hear of changes at once, but not before they are answered. */
const known = (
  reference: string,
  matches: (data: Record<string, unknown>) => boolean = () => true,
) =>
  eventually(async () => {
    const response = await call(reference, 'render', { variables: {} });
    if (
      response.status !== 200 ||
      !matches(((await response.json()) as { data: Record<string, unknown> }).data)
    )
      throw new Error(`${reference} is not what it should be yet`);
  });

describe('POST /v1/prompts/{promptId}/render', () => {
  it('answers with the request that would be sent, and asks nobody', async () => {
    const prompt = await savePrompt(content('Say "{{word}}" {{#loud}}loudly{{/loud}}'), {
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'auto',
    });
    const word = 'a "quoted"\n\\ word';
    const seen = upstream.requests.length;
    const expected = {
      model: 'gpt-4o-mini',
      temperature: 0.5,
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'auto',
      messages: [{ role: 'user', content: `Say "${word}" loudly` }],
    };
    for (const reference of [prompt.slug, prompt.id, `${prompt.slug}@1`, `${prompt.id}@latest`])
      expect(await render(reference, { variables: { word, loud: true } })).toEqual(expected);
    expect(upstream.requests).toHaveLength(seen);
  });

  it('lets the caller override what was saved, and add turns', async () => {
    const prompt = await savePrompt(content('Hello {{name}}'));
    const appended = [{ role: 'assistant', content: '{{name}}' }];
    expect(
      await render(prompt.slug, {
        variables: { name: 'Ada' },
        temperature: 1,
        max_tokens: 7,
        append_messages: appended,
      }),
    ).toEqual({
      model: 'gpt-4o-mini',
      temperature: 1,
      max_tokens: 7,
      messages: [{ role: 'user', content: 'Hello Ada' }, ...appended],
    });
    const messages = [{ role: 'user', content: 'Instead' }];
    expect(await render(prompt.slug, { variables: {}, messages })).toMatchObject({ messages });
  });

  it('follows publishing, labels and partials', async () => {
    const partial = await lab.manage<Made>('POST', '/prompts/partials', {
      name: 'Tone',
      string: 'Be kind.',
    });
    const template = (number: number) => content(`${number} {{>${partial.slug}}}`);
    const says = (text: string) => (data: Record<string, unknown>) =>
      JSON.stringify(data.messages) === content(text);
    const prompt = await savePrompt(template(1));
    await known(prompt.slug, says('1 Be kind.'));
    const { prompt_version_id: second } = await lab.manage<{ prompt_version_id: string }>(
      'PUT',
      `/prompts/${prompt.slug}`,
      { patch: true, string: template(2) },
    );
    await known(`${prompt.slug}@latest`, says('2 Be kind.'));
    expect(says('1 Be kind.')(await render(prompt.slug))).toBe(true);

    const label = await lab.manage<{ id: string }>('POST', '/labels', { name: 'canary' });
    const version = `/prompts/${prompt.slug}/versions/${second}`;
    await lab.manage('PUT', version, { label_id: label.id });
    await known(`${prompt.slug}@canary`, says('2 Be kind.'));
    const first = `/prompts/${prompt.slug}/versions/${prompt.version_id}`;
    await lab.manage('PUT', first, { label_id: label.id });
    const headers = { 'x-service-refresh-prompt-cache': 'true' };
    const moved = await call(`${prompt.slug}@canary`, 'render', { variables: {} }, { headers });
    expect(((await moved.json()) as { data: object }).data).toSatisfy(says('1 Be kind.'));
    await lab.manage('PUT', `/prompts/${prompt.slug}/makeDefault`, { version: 2 });
    await known(prompt.slug, says('2 Be kind.'));
    await lab.manage('PUT', `/prompts/partials/${partial.slug}`, { string: 'Be brief.' });
    await lab.manage('PUT', `/prompts/partials/${partial.slug}/makeDefault`, { version: 2 });
    await known(prompt.slug, says('2 Be brief.'));
    await lab.manage('DELETE', `/labels/${label.id}`);
    await eventually(async () => {
      const { status, code } = await errorOf(
        await call(`${prompt.slug}@canary`, 'render', { variables: {} }),
      );
      expect([status, code]).toEqual([404, 'prompt.not_found']);
    });
    expect(says('1 Be brief.')(await render(`${prompt.slug}@1`))).toBe(true);
  });

  it('refuses in the form that the description of the admin API has of it', async () => {
    const refused = await call('pp-nobody', 'render', { variables: {} });
    const body = await refused.json();
    expect(errorBodies.gateway.parse(body)).toEqual(body);
  });

  it.each([
    ['an unknown prompt', 'pp-nobody', { variables: {} }, 404, 'prompt.not_found'],
    ['an unknown version', '@9', { variables: {} }, 404, 'prompt.not_found'],
    ['an unknown label', '@nowhere', { variables: {} }, 404, 'prompt.not_found'],
    ['the name of something every object has', '@constructor', {}, 404, 'prompt.not_found'],
    ['no variables', '', {}, 400, 'request.invalid_field'],
    ['variables that are a list', '', { variables: [] }, 400, 'request.invalid_field'],
    [
      'nested parameters',
      '',
      { variables: {}, hyperparameters: { temperature: 1 } },
      400,
      'request.invalid_field',
    ],
    [
      'turns that are no list',
      '',
      { variables: {}, append_messages: 'x' },
      400,
      'request.invalid_field',
    ],
  ])('refuses %s', async (_case, reference, body, status, code) => {
    const { slug } = await savePrompt(content('Hello'));
    const whole = reference === '' || reference.startsWith('@') ? `${slug}${reference}` : reference;
    for (const what of ['render', 'completions'] as const) {
      const error = await errorOf(await call(whole, what, body));
      expect([error.status, error.code]).toEqual([status, code]);
    }
  });

  it('names the partials that are missing, and where what is rendered is no JSON', async () => {
    const missing = await lab.manage<Made>('POST', '/prompts', {
      name: 'Missing',
      collection_id: 'default',
      string: content('{{>pl-a}} {{>pl-b@2}}'),
      parameters: {},
      virtual_key: provider,
    });
    await eventually(async () => {
      const error = await errorOf(await call(missing.slug, 'render', { variables: {} }));
      expect(error).toMatchObject({
        status: 400,
        code: 'prompt.invalid',
        message: 'Missing prompt partials: pl-a, pl-b@2.',
      });
    });
    const raw = await lab.manage<Made>('POST', '/prompts', {
      name: 'Raw',
      collection_id: 'default',
      string: '[{"role":"user","content":"{{{text}}}"}]',
      parameters: {},
      virtual_key: provider,
      is_raw_template: 1,
    });
    await known(raw.slug);
    const error = await errorOf(await call(raw.slug, 'render', { variables: { text: '"' } }));
    expect([error.status, error.code]).toEqual([400, 'prompt.invalid']);
    expect(error.message).toMatch(/position \d+/);
  });

  it('asks for its own scope, and stays within the workspace', async () => {
    const { slug, id } = await savePrompt(content('Hello'));
    const { workspace_id } = lab.scenario.stack.credentials;
    const keyWith = async (scopes: string[], workspaceId = workspace_id) =>
      (
        await lab.scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
          name: 'Narrow',
          scopes,
          workspace_id: workspaceId,
        })
      ).key;
    const status = async (key: string, what: 'render' | 'completions', reference = slug) =>
      (await call(reference, what, { variables: {} }, { key })).status;
    const renders = await keyWith(['prompts.render']);
    expect([await status(renders, 'render'), await status(renders, 'completions')]).toEqual([
      200, 403,
    ]);
    const completes = await keyWith(['completions.write']);
    expect([await status(completes, 'render'), await status(completes, 'completions')]).toEqual([
      403, 200,
    ]);
    const other = await lab.scenario.admin<{ slug: string }>('POST', '/admin/workspaces', {
      name: 'Other',
    });
    const foreign = await keyWith(['prompts.render'], other.slug);
    expect(await status(foreign, 'render')).toBe(404);
    expect(await status(foreign, 'render', id)).toBe(404);
    expect((await call(slug, 'render', { variables: {} }, { key: 'nobody' })).status).toBe(401);
  });
});

describe('POST /v1/prompts/{promptId}/completions', () => {
  it('asks the provider the prompt was saved with, and says so in the usage record', async () => {
    const prompt = await savePrompt(content('Hello {{name}}'));
    const seen = upstream.requests.length;
    const { answer, rawRecords } = await trial.ask({
      path: `/v1/prompts/${prompt.slug}@1/completions`,
      body: { variables: { name: 'Ada' }, max_tokens: 5 },
      records: 1,
    });
    expect([answer.status, answer.json]).toEqual([200, chatReply]);
    const sent = await upstream.received(seen + 1);
    expect(sent.path).toBe('/v1/chat/completions');
    expect(sent.headers.authorization).toBe('Bearer sk-model');
    expect(JSON.parse(sent.body.toString())).toEqual({
      model: 'gpt-4o-mini',
      temperature: 0.5,
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hello Ada' }],
    });
    const [record] = rawRecords;
    expect(record).toMatchObject({ endpoint: 'chatComplete', providerSlug: provider.slice(1) });
    expect(JSON.parse(record?.decisionJson ?? '').prompt).toEqual({
      id: prompt.id,
      slug: prompt.slug,
      version: 1,
      versionId: prompt.version_id,
    });
  });

  it('serves a client of OpenAI, whole and as a stream', async () => {
    const streaming = await trial.upstreamThat('both', ({ body }) => {
      const part = (delta: object, finish: string | null = null) => ({
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'gpt-4o-mini',
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
      const wantsStream = JSON.parse(body.toString()).stream === true;
      return wantsStream
        ? sse([part({ content: 'Hi ' }), part({ content: 'there' }), part({}, 'stop'), '[DONE]'])
        : json(200, chatReply);
    });
    const slug = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-both',
      customHost: `${streaming.url}/v1`,
    });
    const prompt = await savePrompt(content('Hello'), { virtual_key: slug });
    const { workspace_key: apiKey, base_url: baseURL } = lab.scenario.stack.credentials;
    const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
    const path = `/prompts/${prompt.slug}/completions`;
    const whole = await client.post<OpenAI.ChatCompletion>(path, {
      body: { variables: {}, stream: false },
    });
    expect((whole as OpenAI.ChatCompletion).choices[0]?.message.content).toBe('Hi there');
    const stream = (await client.post(path, {
      body: { variables: {}, stream: true },
      stream: true,
    })) as AsyncIterable<OpenAI.ChatCompletionChunk>;
    let text = '';
    for await (const event of stream) text += event.choices[0]?.delta.content ?? '';
    expect(text).toBe('Hi there');
  });

  it('renders what a client of OpenAI sends unchanged', async () => {
    const parts = [
      { type: 'text', text: 'Greet {{name}}' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
    ];
    const { slug } = await savePrompt(JSON.stringify([{ role: 'user', content: parts }]), {
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: 'auto',
    });
    const rendered = await render(slug, { variables: { name: 'a "quoted"\n{{name}}' } });
    const { workspace_key: apiKey, base_url: baseURL } = lab.scenario.stack.credentials;
    const defaultHeaders = { 'x-service-provider': provider };
    const client = new OpenAI({ apiKey, baseURL, maxRetries: 0, defaultHeaders });
    const seen = upstream.requests.length;
    const answer = await client.chat.completions.create(
      rendered as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming,
    );
    expect(answer.choices[0]?.message.content).toBe('Hi there');
    const sent = await upstream.received(seen + 1);
    expect(JSON.parse(sent.body.toString())).toEqual(rendered);
  });

  it('asks for a text completion where the prompt is text', async () => {
    const prompt = await savePrompt('Once upon {{time}}', { model: 'gpt-3.5-turbo-instruct' });
    const seen = upstream.requests.length;
    await call(prompt.slug, 'completions', { variables: { time: 'a "time"' } });
    const sent = await upstream.received(seen + 1);
    expect(sent.path).toBe('/v1/completions');
    expect(JSON.parse(sent.body.toString())).toEqual({
      model: 'gpt-3.5-turbo-instruct',
      temperature: 0.5,
      prompt: 'Once upon a "time"',
    });
  });

  it('asks each target of a config the prompt that it names', async () => {
    const full = await trial.upstream('full', json(429, { error: { message: 'full' } }));
    const [own, other] = await Promise.all(
      [full, upstream].map(({ url }, index) =>
        lab.saveProvider({
          aiProviderId: 'openai',
          key: `sk-leaf-${index}`,
          customHost: `${url}/v1`,
        }),
      ),
    );
    const called = await savePrompt(content('Called by {{name}}'), { virtual_key: own });
    const named = await savePrompt(content('Named for {{name}}'), {
      virtual_key: other,
      model: 'gpt-4.1',
    });
    const config = (over: object[]) =>
      JSON.stringify({ strategy: { mode: 'fallback' }, targets: over });
    const ask = (targets: object[], records: number) =>
      trial.ask({
        path: `/v1/prompts/${called.slug}/completions`,
        // A caller's provider is for targets that name none.
        headers: { 'x-service-config': config(targets), 'x-service-provider': own ?? '' },
        body: { variables: { name: 'Ada' }, max_tokens: 5 },
        records,
      });
    const seen = upstream.requests.length;
    const { answer, rawRecords } = await ask(
      [{ name: 'without' }, { prompt_id: `${named.slug}@1`, override_params: { temperature: 1 } }],
      2,
    );
    expect([answer.status, answer.json]).toEqual([200, chatReply]);
    const [first] = full.requests;
    expect(JSON.parse(first?.body.toString() ?? '')).toMatchObject({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Called by Ada' }],
    });
    const sent = await upstream.received(seen + 1);
    expect(sent.headers.authorization).toBe('Bearer sk-leaf-1');
    expect(JSON.parse(sent.body.toString())).toEqual({
      model: 'gpt-4.1',
      temperature: 1,
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Named for Ada' }],
    });
    expect(
      rawRecords.map(({ promptSlug, promptVersionId, providerSlug, decisionJson }) => [
        promptSlug,
        promptVersionId,
        providerSlug,
        JSON.parse(decisionJson).prompt.slug,
      ]),
    ).toEqual([
      [called.slug, called.version_id, own?.slice(1), called.slug],
      [named.slug, named.version_id, other?.slice(1), named.slug],
    ]);
  });

  it('asks nobody where a target names a prompt that cannot be asked', async () => {
    const { slug } = await savePrompt(content('Hello'));
    const text = await savePrompt('Once upon a time', { model: 'gpt-3.5-turbo-instruct' });
    const seen = upstream.requests.length;
    const ask = (targets: object[], path = `/v1/prompts/${slug}/completions`) =>
      lab.scenario.call(path, {
        host: null,
        headers: { 'x-service-config': JSON.stringify({ targets }) },
        body: { variables: {}, model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
      });
    const faults = await Promise.all([
      ask([{ prompt_id: slug }, { prompt_id: 'nobody' }, { prompt_id: `${slug}@9` }]),
      ask([{ prompt_id: text.slug }]),
      ask([{ prompt_id: slug }], '/v1/chat/completions'),
    ]);
    expect(await Promise.all(faults.map(errorOf))).toMatchObject([
      {
        code: 'config.prompt_not_found',
        message: `Following prompt_id are not valid: nobody, ${slug}@9.`,
      },
      { code: 'prompt.invalid', param: 'config.targets[0].prompt_id' },
      { code: 'config.prompt_misplaced', param: 'config.targets[0].prompt_id' },
    ]);
    expect(faults.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(upstream.requests).toHaveLength(seen);
    const old = await lab.scenario.call(`/v1/prompts/${slug}/generate`, {
      host: null,
      body: { variables: {} },
    });
    expect([old.status, (await errorOf(old)).code]).toEqual([410, 'prompt.generate_gone']);
  });

  it('goes where a config or the caller says instead', async () => {
    const elsewhere = await trial.upstream('elsewhere', json(200, chatReply));
    const other = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-elsewhere',
      customHost: `${elsewhere.url}/v1`,
    });
    const { slug } = await savePrompt(content('Hello'));
    const path = `/v1/prompts/${slug}/completions`;
    const body = { variables: {} };
    const ask = async (options: object) => (await trial.ask({ path, body, ...options })).calls;
    expect(await ask({})).toEqual(['model']);
    expect(await ask({ config: { provider: other } })).toEqual(['elsewhere']);
    expect(await ask({ headers: { 'x-service-provider': other } })).toEqual(['elsewhere']);
    expect(await ask({ body: { ...body, model: `${other}/gpt-4o` } })).toEqual(['elsewhere']);
    const saved = await lab.saveConfig({
      strategy: { mode: 'fallback' },
      targets: [elsewhere.target({ override_params: { model: 'gpt-4o' } })],
    });
    expect(await ask({ config: saved })).toEqual(['elsewhere']);
    const last = elsewhere.requests.at(-1);
    expect(JSON.parse(last?.body.toString() ?? '')).toMatchObject({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hello' }],
    });
  });

  it('counts against policies that are about the prompt, and only those', async () => {
    const [limited, free] = [await savePrompt(content('One')), await savePrompt(content('Two'))];
    const { id } = await lab.manage<{ id: string }>('POST', '/policies/rate-limits', {
      conditions: [{ key: 'prompt', value: limited.slug }],
      group_by: [{ key: 'prompt' }],
      type: 'requests',
      unit: 'rpd',
      value: 1,
    });
    const status = async (slug: string) =>
      (await call(slug, 'completions', { variables: {} })).status;
    await eventually(async () => expect(await status(limited.slug)).toBe(429));
    expect(await status(free.slug)).toBe(200);
    await lab.manage('DELETE', `/policies/rate-limits/${id}`);
  });

  it('leaves the other paths of prompts to the control plane', async () => {
    const { slug, id } = await savePrompt(content('Hello'));
    const read = await lab.manage<{ id: string }>('GET', `/prompts/${slug}`);
    expect(read.id).toBe(id);
    const response = await lab.scenario.call(`/v1/prompts/${slug}/render`, {
      method: 'GET',
      host: null,
    });
    expect(response.status).toBe(404);
  });
});

describe('POST /v1/responses with a prompt that is saved here', () => {
  const ask = (body: object) =>
    lab.scenario.call('/v1/responses', { host: null, body: { store: false, ...body } });

  it('asks what the template makes, then what the request says', async () => {
    const saved = JSON.stringify([
      { role: 'system', content: 'Be {{tone}}.' },
      { role: 'user', content: [{ type: 'text', text: 'Greet {{name}}' }] },
    ]);
    const prompt = await savePrompt(saved, {
      parameters: { temperature: 0.5, max_tokens: 50, stream: true },
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
    });
    const variables = { tone: 'brief', name: { type: 'input_text', text: 'Ada' } };
    const seen = upstream.requests.length;
    for (const instructions of [undefined, 'Say it in French.'])
      await ask({
        prompt: { id: prompt.slug, version: '1', variables },
        input: 'Now.',
        temperature: 1,
        instructions,
      });
    const greet = { role: 'user', content: [{ type: 'input_text', text: 'Greet Ada' }] };
    const sent = [await upstream.received(seen + 1), await upstream.received(seen + 2)];
    expect(sent.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/responses']);
    expect(sent[0]?.headers.authorization).toBe('Bearer sk-model');
    expect(sent.map(({ body }) => JSON.parse(body.toString()))).toMatchObject([
      {
        model: 'gpt-4o-mini',
        instructions: 'Be brief.',
        input: [greet, { role: 'user', content: 'Now.' }],
        tools: [{ type: 'function', name: 'f' }],
        max_output_tokens: 50,
        temperature: 1,
        store: false,
      },
      {
        instructions: 'Say it in French.',
        input: [
          { role: 'developer', content: 'Be brief.' },
          greet,
          { role: 'user', content: 'Now.' },
        ],
      },
    ]);
    for (const { body } of sent)
      for (const absent of ['prompt', 'stream', 'messages', 'include'])
        expect(JSON.parse(body.toString())).not.toHaveProperty(absent);
  });

  it('leaves what the vendor keeps to the vendor, and says what is not here', async () => {
    const seen = upstream.requests.length;
    const theirs = { id: 'pmpt_123', version: '2', variables: { a: 'b' } };
    await ask({ model: `${provider}/gpt-4o-mini`, prompt: theirs });
    expect(JSON.parse((await upstream.received(seen + 1)).body.toString()).prompt).toEqual(theirs);
    const { slug } = await savePrompt(content('Hello'));
    const image = { type: 'input_image', image_url: 'https://example.com/a.png' };
    const faults = await Promise.all([
      ask({ prompt: { id: 'nobody' } }),
      ask({ prompt: { id: slug, version: '9' } }),
      ask({ prompt: { id: slug, version: 1 } }),
      ask({ prompt: slug }),
      ask({ prompt: { id: slug, variables: { a: image } } }),
    ]);
    expect(await Promise.all(faults.map(errorOf))).toMatchObject([
      { code: 'prompt.not_found', param: 'body.prompt.id' },
      { code: 'prompt.not_found', param: 'body.prompt.id' },
      { code: 'request.invalid_field', param: 'body.prompt.version' },
      { code: 'request.invalid_field', param: 'body.prompt' },
      { code: 'request.invalid_field', param: 'body.prompt.variables.a' },
    ]);
    expect(upstream.requests).toHaveLength(seen + 1);
  });
});
