import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { jobTokenSeal, uuidOfStored, writeBatchLine } from '@sluice/contracts';
import { eventually, json, slowHeaders, sse } from '@sluice/testkit';
import { generateText, type ModelMessage } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchUse } from './batch-lines.ts';
import { type FixtureLog, fixtureServer } from './mcp/fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream } from './mcp/legacy-upstream.ts';
import { saveServer } from './mcp/mcp-lab.ts';
import { type Body, type ScriptedModel, startScriptedModel } from './mcp/scripted-model.ts';
import { chatReply, errorOf, type Scenario, startScenario } from './scenario.ts';

let s: Scenario;
let client: OpenAI;

beforeAll(async () => {
  s = await startScenario({
    logStore: true,
    processes: ['data-service'],
    environment: {
      'control-plane': { RESPONSES_BYTES_PER_WORKSPACE_MAX: '1000000' },
      'data-service': {
        BATCH_LOOK_INTERVAL: '100',
        BATCH_LEASE: '1500',
        RESPONSE_BYTES_MAX: '600000',
      },
    },
  });
  client = clientOf();
});
afterAll(() => s?.stop());

/** Of a provider that has chat completions alone, and keeps nothing. */
function clientOf(apiKey = s.stack.credentials.workspace_key, config: object = {}): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: `${s.stack.gatewayUrls[0]}/v1`,
    maxRetries: 0,
    defaultHeaders: keepingHeaders(config),
  });
}

function keepingHeaders(config: object = {}) {
  return {
    'x-service-config': JSON.stringify({
      responses_store: 'gateway',
      provider: 'z-ai',
      api_key: 'sk-upstream',
      custom_host: `${s.upstream.url}/v1`,
      ...config,
    }),
  };
}

const model = 'glm-4.6';
const answers = (content: string, id = chatReply.id) =>
  json(200, {
    ...chatReply,
    id,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  });
const lastAsked = () => {
  const { messages } = JSON.parse(s.upstream.requests.at(-1)?.body.toString() ?? '{}') as {
    messages: { role: string; content: string }[];
  };
  return messages.map(({ role, content }) => `${role}: ${content}`);
};

interface Explained {
  plan: { estimate: { input_tokens: number } }[];
  would_fail?: object;
}

async function strangerKey(): Promise<string> {
  const { id } = await s.admin<{ id: string }>('POST', '/admin/workspaces', {
    name: `Others ${Math.random()}`,
  });
  const { key } = await s.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: 'theirs',
    scopes: ['completions.write'],
    workspace_id: id,
  });
  return key;
}

describe('responses that the service keeps, of a provider that keeps none', () => {
  it('go on from one another, are read, listed and deleted', async () => {
    s.upstream.handle(answers('Paris.'));
    const first = await client.responses.create({
      model,
      instructions: 'Be brief.',
      input: 'Capital of France?',
      metadata: { a: 'b' },
    });
    expect(first).toMatchObject({ store: true, previous_response_id: null, output_text: 'Paris.' });
    expect(first.id).toMatch(/^resp_svc_[0-9a-f]{32}$/);
    const { output_text: _text, ...document } = first;
    expect(await client.responses.retrieve(first.id)).toMatchObject(document);

    s.upstream.handle(answers('Berlin.'));
    const second = await client.responses.create({
      model,
      input: [{ role: 'user', content: 'And of Germany?' }],
      previous_response_id: first.id,
    });
    // Instructions are a request's own.
    expect(lastAsked()).toEqual([
      'user: Capital of France?',
      'assistant: Paris.',
      'user: And of Germany?',
    ]);
    expect(second.previous_response_id).toBe(first.id);
    const items = [];
    for await (const item of client.responses.inputItems.list(second.id, { limit: 1 }))
      items.push(item);
    expect(items).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And of Germany?' }] },
      { type: 'message', role: 'assistant' },
      { type: 'message', role: 'user', content: [{ text: 'Capital of France?' }] },
    ]);
    expect(new Set(items.map(({ id }) => id)).size).toBe(3);

    await expect(
      client.responses.retrieve(first.id.replace('resp_', 'conv_')),
    ).rejects.toMatchObject({ status: 404, code: 'response.not_found' });
    await client.responses.delete(first.id);
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({
      status: 404,
      code: 'response.not_found',
    });
    // What went on from it has all that was said.
    await client.responses.create({ model, input: 'Both?', previous_response_id: second.id });
    expect(lastAsked()).toHaveLength(5);
    const gone = { model, input: 'x', previous_response_id: first.id };
    await expect(client.responses.create(gone)).rejects.toMatchObject({
      status: 404,
      param: 'body.previous_response_id',
    });
  });

  it('have what their items refer to, in later turns too', async () => {
    s.upstream.handle(answers('Paris.'));
    const first = await client.responses.create({ model, input: 'Capital of France?' });
    const [answer] = first.output;
    const second = await client.responses.create({
      model,
      input: [
        { type: 'item_reference', id: answer?.id ?? '' },
        { role: 'user', content: 'Sure?' },
      ],
      previous_response_id: first.id,
    });
    const third = [
      'user: Capital of France?',
      'assistant: Paris.',
      'assistant: Paris.',
      'user: Sure?',
    ];
    expect(lastAsked()).toEqual(third);
    await client.responses.create({ model, input: 'On.', previous_response_id: second.id });
    expect(lastAsked()).toEqual([...third, 'assistant: Paris.', 'user: On.']);
  });

  it('are what items refer to without saying of which response', async () => {
    // As the AI SDK sends what was answered, unless it is told `store: false`.
    const talk: OpenAI.Responses.ResponseInputItem[] = [];
    const say = async (content: string, answer: string) => {
      s.upstream.handle(answers(answer, `chatcmpl-${answer}`));
      talk.push({ role: 'user', content });
      const { id, output } = await client.responses.create({ model, input: talk });
      talk.push({ type: 'item_reference', id: output[0]?.id ?? '' });
      return id;
    };
    const [first] = [await say('Capital of France?', 'Paris.'), await say('Sure?', 'Yes.')];
    // The second was given what the first answered.
    await client.responses.delete(first);
    const third = await say('And of Germany?', 'Berlin.');
    expect(lastAsked()).toEqual([
      'user: Capital of France?',
      'assistant: Paris.',
      'user: Sure?',
      'assistant: Yes.',
      'user: And of Germany?',
    ]);
    const listed = await client.responses.inputItems.list(third, { order: 'asc' });
    expect(listed.data.map(({ type }) => type)).toEqual(Array(5).fill('message'));

    // Also where nothing is kept of the answer, in the background, and where it is only counted or explained.
    const on = { model, input: [...talk, { role: 'user' as const, content: 'On.' }] };
    expect(await client.responses.create({ ...on, store: false })).toMatchObject({ store: false });
    expect(lastAsked()).toHaveLength(7);
    const { id } = await client.responses.create({ ...on, background: true });
    await eventually(async () =>
      expect((await client.responses.retrieve(id)).status).toBe('completed'),
    );
    expect(lastAsked()).toHaveLength(7);
    const explained = await client.post<Explained>('/explain/responses', { body: on });
    expect(explained.would_fail).toBeUndefined();

    // Nobody else's, and none that are made up.
    const stranger = clientOf(await strangerKey());
    const before = s.upstream.requests.length;
    await expect(stranger.responses.create(on)).rejects.toMatchObject({
      status: 400,
      code: 'request.state_not_kept',
      param: 'body.input[1]',
    });
    const madeUp = [{ type: 'item_reference' as const, id: 'msg_none' }];
    await expect(client.responses.create({ model, input: madeUp })).rejects.toMatchObject({
      status: 400,
      code: 'request.state_not_kept',
    });
    expect(s.upstream.requests.length).toBe(before);
  });

  it('are referred to without the thoughts that nobody could keep, and under no id that came of them', async () => {
    const native = clientOf(undefined, { provider: 'openai' });
    const talk: OpenAI.Responses.ResponseInputItem[] = [];
    const turn = async (question: string, answer: string, isSealed = false) => {
      const output = [
        {
          id: `rs_${answer}`,
          type: 'reasoning',
          summary: [],
          ...(isSealed && { encrypted_content: 'sealed' }),
        },
        {
          id: `msg_${answer}`,
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: answer, annotations: [] }],
        },
      ];
      s.upstream.handle(
        json(200, {
          id: `resp_${answer}`,
          object: 'response',
          status: 'completed',
          model: 'gpt-5',
          output,
        }),
      );
      talk.push({ role: 'user', content: question });
      const { id } = await native.responses.create({ model: 'gpt-5', input: talk });
      talk.push(...output.map((item) => ({ type: 'item_reference' as const, id: item.id })));
      return id;
    };
    const asked = () => {
      const { input } = JSON.parse(s.upstream.requests.at(-1)?.body.toString() ?? '{}') as {
        input: { id?: string; type?: string; role?: string }[];
      };
      return input.map(({ id, type = 'message', role }) =>
        [id, type, role].filter(Boolean).join(' '),
      );
    };
    const said = ['message user', 'message assistant'];
    const first = await turn('One?', 'one');
    const second = await turn('Two?', 'two', true);
    expect(asked()).toEqual([...said, 'message user']);
    await turn('Three?', 'three');
    const sealed = ['message user', 'rs_two reasoning', 'msg_two message assistant'];
    expect(asked()).toEqual([...said, ...sealed, 'message user']);
    // The newest one that is there has all of it.
    for (const id of [first, second]) await native.responses.delete(id);
    await turn('Four?', 'four');
    expect(asked()).toEqual([...said, ...sealed, ...said, 'message user']);
  });

  it('go on where the AI SDK refers to what was answered, as it does by default', async () => {
    const sent: string[] = [];
    const provider = createOpenAI({
      fetch: (address, init) => {
        sent.push(String(init?.body));
        return fetch(address, init);
      },
      apiKey: s.stack.credentials.workspace_key,
      baseURL: client.baseURL,
      headers: keepingHeaders(),
    });
    const said: ModelMessage[] = [];
    for (const [question, answer] of [
      ['Capital of France?', 'Paris.'],
      ['And of Germany?', 'Berlin.'],
    ] as const) {
      s.upstream.handle(answers(answer, `chatcmpl-${answer}sdk`));
      said.push({ role: 'user', content: question });
      const { response, text } = await generateText({
        model: provider.responses(model),
        messages: said,
        maxRetries: 0,
      });
      expect(text).toBe(answer);
      said.push(...response.messages);
    }
    expect(sent[1]).toContain('"item_reference"');
    expect(lastAsked()).toEqual([
      'user: Capital of France?',
      'assistant: Paris.',
      'user: And of Germany?',
    ]);
  });

  it('stream with the id that they are kept under, and are there at their end', async () => {
    const demo = clientOf(undefined, { custom_host: `${s.stack.demoUpstreamUrl}/v1` });
    const stream = demo.responses.stream({ model, input: 'Hello stream' });
    const ids = new Set<string>();
    const numbers: number[] = [];
    for await (const event of stream) {
      numbers.push(event.sequence_number);
      if ('response' in event) ids.add(event.response.id);
    }
    const final = await stream.finalResponse();
    expect([...ids]).toEqual([final.id]);
    expect(numbers).toEqual(numbers.map((_, at) => at));
    expect(final).toMatchObject({ store: true });
    const { output } = await demo.responses.retrieve(final.id);
    expect(output).toMatchObject([{ id: final.output[0]?.id, status: 'completed' }]);
    s.upstream.handle(answers('again'));
    await client.responses.create({ model, input: 'On', previous_response_id: final.id });
    expect(lastAsked()[0]).toBe('user: Hello stream');
  });

  it('are not kept where the caller declines, or the config does not say so', async () => {
    s.upstream.handle(answers('x'));
    const declined = await client.responses.create({ model, input: 'x', store: false });
    expect(declined).toMatchObject({ store: false });
    expect(declined.id).not.toContain('_svc_');
    const usual = clientOf(undefined, { responses_store: 'provider' });
    const { id } = await usual.responses.create({ model, input: 'x' });
    expect(id).not.toContain('_svc_');
    await expect(
      usual.responses.create({ model, input: 'x', previous_response_id: 'resp_1' }),
    ).rejects.toMatchObject({ status: 400 });
    await expect(client.responses.cancel('resp_svc_1')).rejects.toMatchObject({ status: 404 });
    const { id: kept } = await client.responses.create({ model, input: 'x' });
    await expect(client.responses.cancel(kept)).rejects.toMatchObject({
      status: 400,
      code: 'response.not_in_background',
    });
    await expect(
      client.responses.create({ model, input: 'x', previous_response_id: kept, conversation: 'c' }),
    ).rejects.toMatchObject({ status: 400, param: 'body.conversation' });
    const nested = clientOf(undefined, {
      provider: undefined,
      strategy: { mode: 'fallback' },
      targets: [{ provider: 'z-ai', responses_store: 'gateway' }],
    });
    await expect(nested.responses.create({ model, input: 'x' })).rejects.toMatchObject({
      status: 400,
      code: 'config.invalid',
    });
  });

  it('are nobody else’s, by whichever way they are asked for', async () => {
    s.upstream.handle(answers('secret'));
    const { id } = await client.responses.create({ model, input: 'ours' });
    const { id: talk } = await client.conversations.create({
      items: [{ role: 'user', content: 'ours' }],
    });
    const stranger = clientOf(await strangerKey());
    const plain = new OpenAI({
      apiKey: s.stack.credentials.workspace_key,
      baseURL: client.baseURL,
      maxRetries: 0,
    });
    const before = s.upstream.requests.length;
    for (const ask of [
      () => stranger.responses.retrieve(id),
      () => stranger.responses.delete(id),
      () => stranger.responses.cancel(id),
      () => stranger.responses.inputItems.list(id),
      () => stranger.responses.create({ model, input: 'x', previous_response_id: id }),
      () => stranger.responses.create({ model, input: 'x', conversation: talk }),
      () => stranger.conversations.retrieve(talk),
      () => stranger.conversations.update(talk, { metadata: {} }),
      () => stranger.conversations.items.list(talk),
      () => stranger.conversations.items.create(talk, { items: [{ role: 'user', content: 'x' }] }),
      () => stranger.conversations.delete(talk),
      // Nor does another kind of id lead there, another prefix, or an endpoint that does not know it.
      () => plain.files.retrieve(id.replace('resp_svc_', 'file-svc_')),
      () => plain.files.content(id.replace('resp_svc_', 'file-svc_')),
      () => client.conversations.retrieve(id.replace('resp_', 'conv_')),
      () => client.responses.create({ model, input: 'x', previous_response_id: talk }),
      () => client.get(`/proxy/responses/${id}`),
      () => client.get(`/responses//${id}`),
      () => stranger.post('/responses/compact', { body: { model, previous_response_id: id } }),
      () => stranger.post('/responses/input_tokens', { body: { model, conversation: talk } }),
      () => client.post('/proxy/responses', { body: { model, input: 'x', conversation: talk } }),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 404 });
    expect(s.upstream.requests.length).toBe(before);
    expect((await plain.files.list()).data).toEqual([]);
  });

  it('are counted, compacted and explained with all that was said, and nobody is shown their ids', async () => {
    s.upstream.handle(answers('Paris.'));
    const { id } = await client.responses.create({ model, input: 'Capital of France?' });
    const said = [
      { role: 'user', content: [{ type: 'input_text', text: 'Capital of France?' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Paris.' }] },
    ];
    const { id: talk } = await client.conversations.create({
      items: [{ role: 'user', content: 'Capital of France?' }],
    });
    const vendor = clientOf(undefined, { provider: 'openai' });
    const body = { model, input: 'And of Germany?', instructions: 'Be brief.' };
    s.upstream.handle(json(200, { object: 'response.input_tokens', input_tokens: 7 }));
    for (const path of [
      '/responses/input_tokens',
      '/responses/compact',
      '/proxy/responses/compact',
    ])
      for (const [from, before] of [
        [{ previous_response_id: id }, said],
        [{ conversation: talk }, said.slice(0, 1)],
        [{ conversation: { id: talk } }, said.slice(0, 1)],
      ] as const) {
        expect(await vendor.post(path, { body: { ...body, ...from } })).toMatchObject({
          input_tokens: 7,
        });
        const asked = s.upstream.requests.at(-1);
        expect(asked?.path).toBe(`/v1${path.replace('/proxy', '')}`);
        const { input, ...rest } = JSON.parse(asked?.body.toString() ?? '');
        const { input: last, ...beside } = body;
        expect(rest).toEqual(beside);
        expect(input).toMatchObject([...before, { role: 'user', content: last }]);
        expect(asked?.body.toString()).not.toContain('_svc_');
      }

    const count = s.upstream.requests.length;
    const explain = (over: object) =>
      client.post<Explained>('/explain/responses', { body: { ...body, ...over } });
    const [{ plan: alone }, { plan: whole, would_fail: fault }, { would_fail: unknown }] =
      await Promise.all([
        explain({}),
        explain({ previous_response_id: id }),
        explain({ previous_response_id: `resp_svc_${'0'.repeat(32)}` }),
      ]);
    expect(fault).toBeUndefined();
    expect(whole).toHaveLength(1);
    expect(whole[0]?.estimate.input_tokens).toBeGreaterThan(alone[0]?.estimate.input_tokens ?? 0);
    expect(unknown).toMatchObject({
      code: 'response.not_found',
      param: 'body.previous_response_id',
    });
    const both = { previous_response_id: id, conversation: talk };
    expect((await explain(both)).would_fail).toMatchObject({ param: 'body.conversation' });
    expect((await explain({ background: true, store: false })).would_fail).toMatchObject({
      param: 'body.store',
    });
    expect(s.upstream.requests.length).toBe(count);
    expect((await client.conversations.items.list(talk)).data).toHaveLength(1);
  });

  it('are no way round what looks at requests', async () => {
    s.upstream.handle(answers('fine'));
    const { id } = await client.responses.create({ model, input: 'the forbidden word' });
    const { id: talk } = await client.conversations.create({
      items: [{ role: 'user', content: 'the forbidden word' }],
    });
    const checked = clientOf(undefined, {
      input_guardrails: [
        {
          'default.contains': { operator: 'none', words: ['forbidden'], subjects: ['all'] },
          deny: true,
        },
      ],
    });
    const before = s.upstream.requests.length;
    for (const from of [{ previous_response_id: id }, { conversation: talk }])
      await expect(
        checked.responses.create({ model, input: 'go on', ...from }),
      ).rejects.toMatchObject({ status: 446 });
    expect(s.upstream.requests.length).toBe(before);
  });
});

describe('with tools that the gateway runs', () => {
  let vendor: ScriptedModel;
  let tools: LegacyUpstream;
  let log: FixtureLog;

  beforeAll(async () => {
    log = { writes: 0, cancelled: 0 };
    [vendor, tools] = await Promise.all([
      startScriptedModel(),
      startLegacyUpstream({ makeServer: () => fixtureServer(log) }),
    ]);
    await saveServer(s, 'fixture', { url: tools.url });
  });
  afterAll(() => Promise.all([vendor?.close(), tools?.close()]));

  it.each(['whole', 'stream'])(
    'what is kept is what the caller saw, and goes on (%s)',
    async (way) => {
      const { responses } = clientOf(undefined, {
        provider: 'openai',
        custom_host: `${vendor.url}/v1`,
      });
      const name = `kept-${way}`;
      vendor.script(name, [
        // Whose thought nobody keeps: what came of it goes on all the same.
        { thought: true, calls: [{ name: 'get_weather' }, { name: 'echo' }, { name: 'write' }] },
        { text: 'Sunny.' },
      ]);
      const parameters = { type: 'object', properties: {} };
      const named: OpenAI.Responses.Tool[] = [
        {
          type: 'mcp',
          server_label: 'fixture',
          require_approval: { never: { tool_names: ['echo'] } },
        },
        { type: 'function', name: 'get_weather', strict: false, parameters },
      ];
      const ask = (more: OpenAI.Responses.ResponseCreateParamsNonStreaming) =>
        way === 'whole'
          ? responses.create({ model: name, ...more })
          : responses.stream({ model: name, ...more, stream: true }).finalResponse();
      const kinds = ({ output }: OpenAI.Responses.Response) => output.map(({ type }) => type);

      const first = await ask({ input: 'Go', tools: named });
      expect(first.id).toMatch(/^resp_svc_/);
      expect(kinds(first)).toEqual([
        'mcp_list_tools',
        'reasoning',
        'function_call',
        'mcp_call',
        'mcp_approval_request',
      ]);
      expect(first.output).toMatchObject((await responses.retrieve(first.id)).output);
      const asked = first.output.find(({ type }) => type === 'mcp_approval_request');
      const before = log.writes;
      const second = await ask({
        previous_response_id: first.id,
        tools: named,
        input: [
          { type: 'function_call_output', call_id: 'call_0_0x', output: '21 degrees' },
          { type: 'mcp_approval_response', approval_request_id: asked?.id ?? '', approve: true },
        ],
      });
      expect(kinds(second)).toEqual(['mcp_call', 'message']);
      expect(log.writes).toBe(before + 1);
      // Its server is not named any more.
      await ask({ previous_response_id: second.id, input: 'And?' });
      expect(log.writes).toBe(before + 1);
      const told = vendor.asked
        .get(name)
        ?.map(({ input }) =>
          ([input].flat() as Body[]).flatMap(({ type, call_id: id, output = '' }) =>
            type?.startsWith('function_call') ? [`${id} ${output}`.trim()] : [],
          ),
        );
      const said = ['call_0_0x', 'call_0_1x', 'call_0_1x {}', 'call_0_2x'];
      expect(told?.slice(1)).toEqual([
        [...said, 'call_0_0x 21 degrees', `call_0_2x ${before + 1}`],
        [...said.slice(0, 3), 'call_0_0x 21 degrees', 'call_0_2x', `call_0_2x ${before + 1}`],
      ]);
      expect(JSON.stringify(vendor.asked.get(name))).not.toContain('"type":"mcp_');
    },
  );
});

describe('conversations that the service keeps', () => {
  it('are made, changed, listed and go', async () => {
    const made = await client.conversations.create({
      metadata: { topic: 'capitals' },
      items: [{ type: 'message', role: 'user', content: 'First.' }],
    });
    expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'capitals' } });
    expect(made.id).toMatch(/^conv_svc_[0-9a-f]{32}$/);
    expect(await client.conversations.retrieve(made.id)).toEqual(made);
    const updated = await client.conversations.update(made.id, { metadata: { topic: 'rivers' } });
    expect(updated).toEqual({ ...made, metadata: { topic: 'rivers' } });
    const added = await client.conversations.items.create(made.id, {
      items: [
        { role: 'user', content: 'Second.' },
        { role: 'user', content: 'Third.' },
      ],
    });
    expect(added.data).toHaveLength(2);
    const ids: string[] = [];
    for await (const item of client.conversations.items.list(made.id, { limit: 2, order: 'asc' }))
      ids.push(item.id ?? '');
    expect(ids).toHaveLength(3);
    expect(ids.slice(1)).toEqual(added.data.map((item) => item.id));
    const [second = ''] = ids.slice(1);
    const name = { conversation_id: made.id };
    expect(await client.conversations.items.retrieve(second, name)).toMatchObject({
      content: [{ type: 'input_text', text: 'Second.' }],
    });
    expect(await client.conversations.items.delete(second, name)).toMatchObject({ id: made.id });
    await expect(client.conversations.items.retrieve(second, name)).rejects.toMatchObject({
      status: 404,
      code: 'conversation.item_not_found',
    });
    expect(await client.conversations.delete(made.id)).toMatchObject({ deleted: true });
    await expect(client.conversations.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    for (const body of [
      { items: 'x' },
      { items: Array.from({ length: 21 }, () => ({})) },
      { metadata: { a: 1 } },
    ]) {
      const refused = await s.call('/v1/conversations', { body, host: null });
      expect((await errorOf(refused)).code).toBe('request.invalid_field');
    }
  });

  it('grow by what is asked and answered in them, at whichever provider', async () => {
    const { id } = await client.conversations.create({});
    s.upstream.handle(answers('One.'));
    const first = await client.responses.create({ model, input: 'Count.', conversation: id });
    expect(first.conversation).toEqual({ id });
    s.upstream.handle(answers('Two.'));
    await client.responses.create({ model, input: 'More.', conversation: { id } });
    expect(lastAsked()).toEqual(['user: Count.', 'assistant: One.', 'user: More.']);
    expect((await client.conversations.items.list(id)).data).toHaveLength(4);
    // Many at once: none is lost.
    await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        client.conversations.items.create(id, { items: [{ role: 'user', content: `${at}` }] }),
      ),
    );
    expect((await client.conversations.items.list(id)).data).toHaveLength(10);
  });
});

describe('responses in the background that the service makes', () => {
  const ended = (id: string, by = client) =>
    eventually(
      async () => {
        const now = await by.responses.retrieve(id);
        expect(['queued', 'in_progress']).not.toContain(now.status);
        return now;
      },
      { intervalMs: 50 },
    );

  const recorded = (id: string, total: number) =>
    eventually(async () => expect((await batchUse(s, id)).total).toBe(total), { intervalMs: 200 });

  /** As its runner asks for it. */
  async function askAgain(id: string): Promise<unknown> {
    const batchId = uuidOfStored('response', id) ?? '';
    const endpoint = '/v1/responses';
    const token = jobTokenSeal(s.stack.serviceToken).sign({ batchId, endpoint }, Date.now());
    const line = { batchId, customId: 'response', headers: {}, isResponse: true };
    const response = await fetch(`${s.stack.gatewayUrls[0]}${endpoint}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'x-sluice-batch-line': writeBatchLine(line),
      },
      body: '{}',
    });
    return response.json();
  }

  it('are polled by their key without limits, and are one record of one call', async () => {
    const { key } = await s.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'of three requests a minute',
      scopes: ['completions.write'],
      workspace_id: s.stack.credentials.workspace_id,
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }],
    });
    const slow = clientOf(key);
    s.upstream.handle(() => slowHeaders(200, answers('Made.')));
    const before = s.upstream.requests.length;
    const { id: talk } = await slow.conversations.create({
      items: [{ role: 'user', content: 'Before.' }],
    });
    const queued = await slow.responses.create({
      model,
      input: 'Make.',
      background: true,
      conversation: talk,
      metadata: { a: 'b' },
    });
    expect(queued).toMatchObject({ status: 'queued', background: true, metadata: { a: 'b' } });
    await expect(
      slow.responses.create({ model, input: 'x', previous_response_id: queued.id }),
    ).rejects.toMatchObject({ status: 409, code: 'response.not_finished' });
    const made = await ended(queued.id, slow);
    expect(made).toMatchObject({
      id: queued.id,
      status: 'completed',
      background: true,
      store: true,
      output_text: 'Made.',
      created_at: queued.created_at,
    });
    expect(lastAsked()).toEqual(['user: Before.', 'user: Make.']);
    await eventually(async () =>
      expect((await slow.conversations.items.list(talk)).data).toHaveLength(3),
    );
    expect(s.upstream.requests.length).toBe(before + 1);
    for (let poll = 0; poll < 10; poll += 1) await slow.responses.retrieve(queued.id);
    await expect(slow.responses.cancel(queued.id)).resolves.toMatchObject({ status: 'completed' });
    // A gateway that was killed between keeping it and saying so is asked a second time.
    expect(await askAgain(queued.id)).toMatchObject({ id: queued.id, status: 'completed' });
    expect(s.upstream.requests.length).toBe(before + 1);
    await recorded(queued.id, 1);
    // What is made is found again, and goes on.
    s.upstream.handle(answers('On.'));
    await slow.responses.create({ model, input: 'On', previous_response_id: queued.id });
    expect(lastAsked()).toHaveLength(4);
  });

  it('are asked for without what only OpenAI knows', async () => {
    const router = clientOf(undefined, { provider: 'openrouter' });
    s.upstream.handle(() =>
      json(200, { id: 'resp_1', object: 'response', status: 'completed', model, output: [] }),
    );
    const { id } = await router.responses.create({
      model,
      input: 'Make.',
      background: true,
      background_options: { completion_window: '8h' },
    });
    expect(await ended(id, router)).toMatchObject({ status: 'completed' });
    const sent = JSON.parse(s.upstream.requests.at(-1)?.body.toString() ?? '{}') as object;
    expect(Object.keys(sent).sort()).toEqual(['input', 'model', 'store']);
  });

  it('are streamed, and streamed again from any event on', async () => {
    const demo = clientOf(undefined, { custom_host: `${s.stack.demoUpstreamUrl}/v1` });
    const stream = await demo.responses.create({
      model,
      input: 'Hello in the background',
      background: true,
      stream: true,
    });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    let id = '';
    for await (const event of stream) {
      events.push(event);
      if ('response' in event) id = event.response.id;
    }
    expect(id).toMatch(/^resp_svc_/);
    expect(events.at(-1)?.type).toBe('response.completed');
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
    const again = await demo.responses.retrieve(id, { stream: true, starting_after: 2 });
    const rest = [];
    for await (const event of again) rest.push(event);
    expect(rest).toEqual(events.slice(3));
    const stranger = clientOf(await strangerKey());
    await expect(stranger.responses.retrieve(id, { stream: true })).rejects.toMatchObject({
      status: 404,
    });
  });

  const piece = (delta: object, finish_reason: string | null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const pieces = (count: number) =>
    Array.from({ length: count }, (_, at) => piece({ content: `${at} ` }, null));
  const whole = (count: number) => [...pieces(count), piece({}, 'stop'), '[DONE]'];
  /** Each event as it comes, and what the stream ended with. */
  async function heard(
    stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>,
    on: (told: { id: string; number: number }) => Promise<unknown> | undefined = () => undefined,
  ) {
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    let id = '';
    let caught: unknown;
    try {
      for await (const event of stream) {
        events.push(event);
        if ('response' in event) id = event.response.id;
        await on({ id, number: event.sequence_number });
      }
    } catch (error) {
      caught = error;
    }
    return { id, events, caught };
  }

  it('fail with what broke their stream off', async () => {
    s.upstream.handle(sse(pieces(6), { delayMs: 20, cutAfter: 6 }));
    const { id, caught } = await heard(
      await client.responses.create({ model, input: 'x', background: true, stream: true }),
    );
    expect(caught).toMatchObject({ code: 'upstream.stream_cut' });
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'upstream.stream_cut', message: expect.stringContaining('provider') },
    });
    await recorded(id, 1);
  });

  it('tell who listens why no more is told, and go on from there', async () => {
    s.upstream.handle(sse(whole(60), { delayMs: 100 }));
    const ask = { model, input: 'x', background: true, stream: true } as const;
    const deleted = await heard(await client.responses.create(ask), ({ id, number }) =>
      number === 8 ? client.responses.delete(id) : undefined,
    );
    expect(deleted.caught).toMatchObject({ code: 'response.not_found' });
    let isDown = false;
    const cut = await heard(await client.responses.create(ask), ({ number }) => {
      if (number !== 8 || isDown) return undefined;
      isDown = true;
      return s.stack.part('data-service').kill();
    });
    expect(cut.caught).toMatchObject({ code: 'response.unavailable' });
    const last = cut.events.at(-1)?.sequence_number ?? -1;
    await s.stack.part('data-service').start();
    // Gateways have to see that it is there again.
    const again = await eventually(() =>
      client.responses.retrieve(cut.id, { stream: true, starting_after: last }),
    );
    const rest = await heard(again);
    expect(rest.events.map((event) => event.sequence_number)).toEqual(
      rest.events.map((_, at) => last + 1 + at),
    );
    expect(rest.events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { message: expect.stringContaining('interrupted') } },
    });
  });

  it('are cancelled, fail with the reason, and are refused where nothing is kept', async () => {
    s.upstream.handle(() => slowHeaders(60_000, answers('never')));
    const { id } = await client.responses.create({ model, input: 'x', background: true });
    expect((await client.responses.cancel(id)).status).toBe('cancelled');
    expect((await client.responses.retrieve(id)).status).toBe('cancelled');
    s.upstream.handle(json(400, { error: { message: 'No such thing.', code: 'nonsense' } }));
    const failing = await client.responses.create({ model, input: 'x', background: true });
    expect(await ended(failing.id)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('No such thing.') },
    });
    await expect(
      client.responses.create({ model, input: 'x', background: true, store: false }),
    ).rejects.toMatchObject({ status: 400, param: 'body.store' });
  });

  it('are made although who made them was killed', async () => {
    s.upstream.handle(() => slowHeaders(60_000, answers('never')));
    const before = s.upstream.requests.length;
    const { id } = await client.responses.create({ model, input: 'x', background: true });
    await eventually(() => s.upstream.requests.length > before);
    await s.stack.part('data-service').kill();
    s.upstream.handle(answers('Made at last.'));
    await s.stack.part('data-service').start();
    expect(await ended(id)).toMatchObject({ status: 'completed', output_text: 'Made at last.' });
    expect(s.upstream.requests.length).toBe(before + 2);
    // Both were called: a record each, of one request.
    await recorded(id, 2);
  });

  it('are made and told while the control plane is away for a moment, which the log says without a stack', async () => {
    s.upstream.handle(sse(whole(60), { delayMs: 100 }));
    const before = s.upstream.requests.length;
    const fromMs = Date.now();
    let waitedMs = 0;
    let isAway = false;
    const { events, caught, id } = await heard(
      await client.responses.create({ model, input: 'x', background: true, stream: true }),
      async ({ number, id: of }) => {
        if (number !== 8 || isAway) return;
        isAway = true;
        await s.stack.part('control-plane').stop();
        const askedAtMs = Date.now();
        await expect(client.responses.retrieve(of)).rejects.toMatchObject({
          status: 503,
          code: 'response.unavailable',
        });
        waitedMs = Date.now() - askedAtMs;
        await s.stack.part('control-plane').start();
      },
    );
    expect([caught, events.at(-1)?.type]).toEqual([undefined, 'response.completed']);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
    // Less than what a control plane that hangs is waited for.
    expect(waitedMs).toBeLessThan(8_000);
    expect(await eventually(() => client.responses.retrieve(id))).toMatchObject({
      status: 'completed',
    });
    expect(s.upstream.requests.length).toBe(before + 1);
    const lines = s.stack.part('data-service').stderr().split('\n');
    const said = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    const warned = said.filter(
      ({ time, level }) => Date.parse(time) >= fromMs && (level === 'warn' || level === 'error'),
    );
    expect(JSON.stringify(warned)).not.toContain('"stack"');
    expect(warned.map(({ msg }) => msg)).not.toContain('a batch could not be held on to');
    const runs = said.filter(({ time, msg }) => Date.parse(time) >= fromMs && /is run$/.test(msg));
    expect(runs).toHaveLength(1);
  });
});

describe('more than may be kept', () => {
  it('is answered all the same, and refused where it would have to be kept', async () => {
    const fromMs = Date.now();
    const key = await strangerKey();
    const crowded = clientOf(key);
    s.upstream.handle(answers('x'));
    const notKept = async (body: OpenAI.Responses.ResponseCreateParamsNonStreaming) => {
      const { data, response } = await crowded.responses.create(body).withResponse();
      expect(data).toMatchObject({ output_text: 'x', store: false });
      expect(response.headers.get('x-service-response-store')).toBe('none');
    };
    const refused = async (code: string, asks: (() => Promise<unknown>)[]) => {
      for (const ask of asks) await expect(ask()).rejects.toMatchObject({ code });
    };
    const large = 'x'.repeat(700_000);
    await notKept({ model, input: large });
    await refused('response.too_large', [
      () => crowded.responses.create({ model, input: large, background: true }),
      () => crowded.conversations.create({ items: [{ role: 'user', content: large }] }),
    ]);

    const items = [{ role: 'user' as const, content: 'x'.repeat(550_000) }];
    const { id } = await crowded.conversations.create({ items });
    await crowded.conversations.create({ items });
    const small = { model, input: 'x' };
    await notKept(small);
    await notKept({ ...small, conversation: id });
    await refused('response.too_many', [
      () => crowded.responses.create({ ...small, background: true }),
      () => crowded.conversations.create({}),
      () => crowded.conversations.items.create(id, { items: [{ role: 'user', content: 'x' }] }),
    ]);
    const demo = clientOf(key, { custom_host: `${s.stack.demoUpstreamUrl}/v1` });
    expect(await demo.responses.stream(small).finalResponse()).toMatchObject({ store: false });
    // Whose workspace has room keeps on, and the log has each reason once.
    expect(await client.responses.create(small)).toMatchObject({ store: true });
    await notKept(small);
    const lines = s.stack.part('gateway').stderr().split('\n');
    const told = lines
      .filter((line) => line.includes('responses cannot be kept'))
      .map((line) => JSON.parse(line) as { time: string; code: string })
      .filter(({ time }) => Date.parse(time) >= fromMs);
    // Of a machine that is busy it may have others.
    const codes = told.map(({ code }) => code);
    expect(codes.filter((code) => code.startsWith('response.too_'))).toEqual([
      'response.too_large',
      'response.too_many',
    ]);
  });
});

it('what is kept lies sealed', async () => {
  const names = await readdir(join(s.stack.dataDir, 'logs', 'files'), {
    recursive: true,
    withFileTypes: true,
  });
  const files = names.filter((each) => each.isFile());
  expect(files.some(({ parentPath }) => parentPath.endsWith('/events'))).toBe(true);
  for (const { parentPath, name } of files) {
    const content = await readFile(join(parentPath, name));
    for (const said of ['"role"', 'sequence_number', 'sk-upstream', 'forbidden'])
      expect(content.includes(said), name).toBe(false);
  }
});

describe('when what is kept cannot be reached', () => {
  it('answers all the same, says so, and never that there is none', async () => {
    s.upstream.handle(answers('x'));
    const { id, output } = await client.responses.create({ model, input: 'x' });
    const answer = { type: 'item_reference' as const, id: output[0]?.id ?? '' };
    await s.stack.part('data-service').kill();
    const { data, response } = await client.responses.create({ model, input: 'x' }).withResponse();
    expect(data).toMatchObject({ output_text: 'x', store: false });
    expect(response.headers.get('x-service-response-store')).toBe('none');
    const unavailable = { status: 503, code: 'response.unavailable' };
    for (const ask of [
      () => client.responses.retrieve(id),
      () => client.responses.create({ model, input: 'x', previous_response_id: id }),
      () => client.responses.create({ model, input: [answer] }),
      () => client.conversations.create({}),
    ])
      await expect(ask()).rejects.toMatchObject(unavailable);
  });
});
