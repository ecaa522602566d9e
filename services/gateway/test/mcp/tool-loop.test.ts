import Anthropic from '@anthropic-ai/sdk';
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventually, inTurns } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Records, readRecords } from '../records.ts';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream, startSseUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';
import { startModernUpstream } from './modern-upstream.ts';
import { type Body, type ScriptedModel, startScriptedModel, type Turn } from './scripted-model.ts';

/** Tools that the gateway runs for models of all formats, as the vendors' own clients see it. */
let lab: McpLab;
let model: ScriptedModel;
let tools: LegacyUpstream;
let server: SavedServer;
let records: Records;
const log: FixtureLog = { writes: 0, cancelled: 0 };

beforeAll(async () => {
  [lab, model, tools] = await Promise.all([
    startMcpLab({
      nats: true,
      environment: { gateway: { TOOL_ROUNDS_MAX: '4', MCP_REQUEST_TIMEOUT_MS: '1500' } },
    }),
    startScriptedModel(),
    startLegacyUpstream({ makeServer: () => fixtureServer(log) }),
  ]);
  server = await lab.save({ url: tools.url });
  records = await readRecords(lab.scenario.stack.nats?.url ?? '');
});
afterAll(async () => {
  await records?.close();
  await lab?.stop();
  await Promise.all([model?.close(), tools?.close()]);
});

/** Who speaks what: the format of the caller, of the other, and chat alone. */
const vendors = [
  { vendor: 'openai', format: 'responses' },
  { vendor: 'anthropic', format: 'messages' },
  { vendor: 'groq', format: 'chat' },
] as const;

let scripted = 0;
function script(...turns: Turn[]): string {
  scripted += 1;
  const name = `script-${scripted}`;
  model.script(name, turns);
  return name;
}

function headersFor(vendor: string): Record<string, string> {
  return {
    'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
    'x-service-provider': vendor,
    'x-service-custom-host': `${model.url}/v1`,
    authorization: 'Bearer sk-upstream',
  };
}

function openai(vendor: string, fetched?: (response: Response) => void): OpenAI {
  return new OpenAI({
    apiKey: 'sk-upstream',
    baseURL: `${lab.scenario.stack.gatewayUrls[0]}/v1`,
    maxRetries: 2,
    defaultHeaders: headersFor(vendor),
    fetch: watched(fetched),
  });
}

function anthropic(vendor: string, fetched?: (response: Response) => void): Anthropic {
  return new Anthropic({
    apiKey: 'sk-upstream',
    baseURL: String(lab.scenario.stack.gatewayUrls[0]),
    maxRetries: 2,
    defaultHeaders: headersFor(vendor),
    fetch: watched(fetched),
  });
}

const watched =
  (heard?: (response: Response) => void): typeof fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    heard?.(response);
    return response;
  };

const ours = (more: object = {}): OpenAI.Responses.Tool.Mcp => ({
  type: 'mcp',
  server_label: server.slug,
  require_approval: 'never',
  ...more,
});

const toolset = (more: object = {}) => ({
  mcp_servers: [{ type: 'url', name: server.slug, url: '' } as const],
  tools: [{ type: 'mcp_toolset', mcp_server_name: server.slug, ...more } as const],
  betas: ['mcp-client-2025-11-20'],
});

/** Two calls at once, one that fails, one that is not there, then a text. */
const rounds = (): Turn[] => [
  {
    text: 'Let me see.',
    calls: [{ name: 'echo', args: { a: 1 } }, { name: 'write' }],
  },
  { calls: [{ name: 'fails' }] },
  { text: 'All done.' },
];

/** In the suite one way of each vendor for each of the two, in turns (`npm run test:long`: both). */
const waysOf = (vendor: string, turn: number) =>
  inTurns(
    ['whole', 'stream'] as const,
    2,
    turn + vendors.findIndex((one) => one.vendor === vendor),
  );

describe.each(vendors)('/v1/responses over $format', ({ vendor }) => {
  it.each(waysOf(vendor, 0))('%s: calls, results and one answer', async (way) => {
    const name = script(...rounds());
    const before = log.writes;
    let requestId = '';
    const client = openai(vendor, ({ headers }) => {
      requestId = headers.get('x-service-request-id') ?? '';
    });
    const asked = { model: name, input: 'Go', store: false, tools: [ours()] };
    let answer: OpenAI.Responses.Response;
    if (way === 'whole') answer = await client.responses.create(asked);
    else {
      const events: Body[] = [];
      const stream = client.responses.stream(asked);
      for await (const event of stream) events.push(event);
      answer = await stream.finalResponse();
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(
        events.map((_, at) => at),
      );
      const types = events.map(({ type }) => type);
      expect(types.filter((type) => type === 'response.created')).toHaveLength(1);
      expect(types.filter((type) => type === 'response.completed')).toHaveLength(1);
      expect(types).toContain('response.mcp_list_tools.completed');
      expect(types.filter((type) => type === 'response.mcp_call.completed')).toHaveLength(2);
      expect(types.filter((type) => type === 'response.mcp_call.failed')).toHaveLength(1);
      const ids = new Set(events.flatMap(({ response }) => (response ? [response.id] : [])));
      expect(ids.size).toBe(1);
      // What is told of an item, and the item: the same place and id from its first event to its last.
      for (const [index, item] of answer.output.entries()) {
        const places = events.filter(({ output_index }) => output_index === index);
        expect(places.length).toBeGreaterThan(1);
        for (const { item_id = item.id } of places) expect(item_id).toBe(item.id);
      }
    }
    expect(answer.output.map(({ type }) => type)).toEqual([
      'mcp_list_tools',
      'message',
      'mcp_call',
      'mcp_call',
      'mcp_call',
      'message',
    ]);
    expect(answer.output_text).toBe('Let me see.All done.');
    expect(answer.status).toBe('completed');
    expect(answer.tools).toMatchObject([{ type: 'mcp', server_label: server.slug }]);
    expect(answer.usage).toMatchObject({ input_tokens: 30, output_tokens: 15, total_tokens: 45 });
    const calls = answer.output.filter((item) => item.type === 'mcp_call');
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    expect(calls).toMatchObject([
      { name: 'echo', arguments: '{"a":1}', output: '{"a":1}', error: null, status: 'completed' },
      { name: 'write', output: `${before + 1}`, server_label: server.slug },
      {
        name: 'fails',
        status: 'failed',
        output: null,
        error: {
          type: 'mcp_tool_execution_error',
          content: [{ type: 'text', text: 'it failed' }],
        },
      },
    ]);
    expect(log.writes).toBe(before + 1);
    // Every visit of the model and every call has a record of its own, under one request and one trace.
    const found = await records.of(requestId, 6, ({ endpoint }) => endpoint !== 'mcp:tool_list');
    expect(found.map(({ endpoint }) => endpoint).toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'createModelResponse'),
      ...Array.from({ length: 3 }, () => 'mcp:tool_call'),
      ...found.filter(({ endpoint }) => endpoint === 'mcp:tool_list').map(() => 'mcp:tool_list'),
    ]);
    expect(new Set(found.map(({ traceId }) => traceId)).size).toBe(1);
    const visits = found.filter(({ endpoint }) => endpoint === 'createModelResponse');
    expect(visits.map(({ inputTokens }) => Number(inputTokens))).toEqual([10, 10, 10]);
    expect(visits.map(({ decisionJson }) => JSON.parse(decisionJson).tools)).toEqual([
      { round: 1 },
      { round: 2 },
      { round: 3 },
    ]);
    const [first = {}, second] = model.asked.get(name) ?? [];
    expect((first.tools as Body[]).map((tool) => tool.function?.name ?? tool.name)).toContain(
      `mcp__${server.slug}__echo`,
    );
    expect(JSON.stringify(second)).toContain('{\\"a\\":1}');
  });
});

describe.each(vendors)('/v1/messages over $format', ({ vendor }) => {
  it.each(waysOf(vendor, 1))('%s: calls, results and one answer', async (way) => {
    const name = script(...rounds());
    const before = log.writes;
    const client = anthropic(vendor);
    const asked = {
      model: name,
      max_tokens: 100,
      messages: [{ role: 'user' as const, content: 'Go' }],
      ...toolset(),
    };
    let answer: Anthropic.Beta.BetaMessage;
    if (way === 'whole') answer = await client.beta.messages.create(asked);
    else {
      const events: Body[] = [];
      const stream = client.beta.messages.stream(asked);
      stream.on('streamEvent', (event) => events.push(event));
      answer = await stream.finalMessage();
      const types = events.map(({ type }) => type);
      expect(types.filter((type) => type === 'message_start')).toHaveLength(1);
      expect(types.filter((type) => type === 'message_delta')).toHaveLength(1);
      expect(types.filter((type) => type === 'message_stop')).toHaveLength(1);
      const begun = events.filter(({ type }) => type === 'content_block_start');
      expect(begun.map(({ index }) => index)).toEqual(begun.map((_, at) => at));
    }
    expect(answer.content.map(({ type }) => type)).toEqual([
      'text',
      'mcp_tool_use',
      'mcp_tool_use',
      'mcp_tool_result',
      'mcp_tool_result',
      'mcp_tool_use',
      'mcp_tool_result',
      'text',
    ]);
    expect(answer.stop_reason).toBe('end_turn');
    expect(answer.usage).toMatchObject({ output_tokens: 15 });
    const uses = answer.content.filter((block) => block.type === 'mcp_tool_use');
    const results = answer.content.filter((block) => block.type === 'mcp_tool_result');
    expect(uses).toMatchObject([
      { name: 'echo', server_name: server.slug, input: { a: 1 } },
      { name: 'write' },
      { name: 'fails' },
    ]);
    expect(new Set(results.map(({ tool_use_id }) => tool_use_id))).toEqual(
      new Set(uses.map(({ id }) => id)),
    );
    const of = (id: string | undefined) => results.find(({ tool_use_id }) => tool_use_id === id);
    expect(of(uses[0]?.id)).toMatchObject({
      is_error: false,
      content: [{ type: 'text', text: '{"a":1}' }],
    });
    expect(of(uses[2]?.id)).toMatchObject({ is_error: true });
    expect(log.writes).toBe(before + 1);
    // The same conversation goes on: the vendor is told of calls and results in its own words.
    model.script(name, [{ text: 'And more.' }]);
    const next = await client.beta.messages.create({
      ...asked,
      messages: [
        ...asked.messages,
        { role: 'assistant', content: answer.content as never },
        { role: 'user', content: 'More?' },
      ],
    });
    expect(next.content).toMatchObject([{ type: 'text', text: 'And more.' }]);
    expect(log.writes).toBe(before + 1);
    const last = JSON.stringify(model.asked.get(name)?.at(-1));
    expect(last).toContain('{\\"a\\":1}');
    expect(last).not.toContain('mcp_tool');
  });
});

/** Calls of the model, as often as it is asked. */
const forEver: Turn[] = [{ calls: [{ name: 'echo', args: { a: 1 } }] }];
const native = 'openai';
const bodiesOf = (name: string) => model.asked.get(name) ?? [];
const lastOf = (name: string): Body => bodiesOf(name).at(-1) ?? {};
/** What the model was told of its calls, in the last body. */
const toldLast = (name: string) =>
  (lastOf(name).input as Body[])
    .filter(({ type }) => type === 'function_call_output')
    .map(({ output }) => String(output));

describe('calls that come to nothing', () => {
  it('are told to the model as errors, and the request goes on', async () => {
    const restricted = await lab.save({
      url: tools.url,
      more: {
        policy: {
          access: { rules: [{ effect: 'deny', query: { 'arguments.path': { $eq: '/etc' } } }] },
        },
      },
    });
    const name = script(
      {
        calls: [
          { name: 'echo', args: { path: '/etc' } },
          { name: 'echo', args: '{"path": ' },
          { name: `mcp__${restricted.slug}__ghost` },
          { name: 'slow' },
          { name: 'echo', args: { path: '/home' } },
        ],
      },
      { text: 'Well.' },
    );
    const cancelled = log.cancelled;
    const answer = await openai(native).responses.create({
      model: name,
      input: 'Go',
      tools: [{ ...ours(), server_label: restricted.slug }],
    });
    const calls = answer.output.filter((item) => item.type === 'mcp_call');
    expect(calls.map(({ status }) => status)).toEqual([
      'failed',
      'failed',
      'failed',
      'failed',
      'completed',
    ]);
    expect(calls.map(({ error }) => error)).toMatchObject([
      { type: 'mcp_protocol_error', code: -32602 },
      { message: expect.stringContaining('no JSON object') },
      { message: expect.stringContaining('ghost') },
      { type: 'mcp_protocol_error', code: -32001 },
      null,
    ]);
    expect(answer.output_text).toBe('Well.');
    expect(toldLast(name)).toHaveLength(5);
    // The server hears of a call that nobody waits for any more.
    await eventually(() => expect(log.cancelled).toBe(cancelled + 1));
  });

  it.each(['whole', 'stream'] as const)(
    'are cancelled when the caller leaves, and no more are made (%s)',
    async (way) => {
      // No deadline of its own ends the call before.
      const more = { policy: { request_timeout: 60_000 } };
      const patient = await lab.save({ url: tools.url, more });
      const name = script({ calls: [{ name: 'slow' }] }, { text: 'Too late.' });
      const cancelled = log.cancelled;
      const called = () =>
        tools.requests.filter(({ body }) => body?.method === 'tools/call').length;
      const before = called();
      const gone = new AbortController();
      const asked = {
        model: name,
        input: 'Go',
        tools: [{ ...ours(), server_label: patient.slug }],
      };
      const { responses } = openai(native);
      const answer = responses
        .create({ ...asked, stream: way === 'stream' }, { signal: gone.signal })
        .then(async (given) => {
          if ('output' in given) return;
          for await (const _ of given);
        });
      answer.catch(() => {});
      await eventually(() => expect(called()).toBe(before + 1));
      gone.abort();
      await answer.catch(() => {});
      await eventually(() => expect(log.cancelled).toBe(cancelled + 1));
      expect(bodiesOf(name)).toHaveLength(1);
    },
  );

  it('end with the cap on rounds: the last may call nothing', async () => {
    const name = script(...forEver);
    const answer = await openai(native).responses.create({
      model: name,
      input: 'Go',
      tool_choice: 'required',
      tools: [ours()],
    });
    expect(bodiesOf(name).map(({ tool_choice }) => tool_choice)).toEqual([
      'required',
      'auto',
      'auto',
      'none',
    ]);
    expect(answer).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_tool_calls' },
    });
    const calls = answer.output.filter((item) => item.type === 'mcp_call');
    expect(calls.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
      'failed',
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(4);
  });

  it('stop at max_tool_calls', async () => {
    const name = script(
      { calls: [{ name: 'echo' }, { name: 'echo' }, { name: 'echo' }] },
      { text: 'Enough.' },
    );
    const answer = await openai(native).responses.create({
      model: name,
      input: 'Go',
      max_tool_calls: 2,
      tools: [ours()],
    });
    const calls = answer.output.filter((item) => item.type === 'mcp_call');
    expect(calls.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed']);
  });

  it.each(['whole', 'stream'] as const)(
    'pause a message (%s), which goes on when it is sent back',
    async (way) => {
      const name = script(...forEver);
      const asked = {
        model: name,
        max_tokens: 100,
        messages: [{ role: 'user' as const, content: 'Go' }],
        ...toolset(),
      };
      const { beta } = anthropic('anthropic');
      const answer =
        way === 'whole'
          ? await beta.messages.create(asked)
          : await beta.messages.stream(asked).finalMessage();
      expect(answer.stop_reason).toBe('pause_turn');
      expect(bodiesOf(name)).toHaveLength(4);
      expect(answer.content.filter(({ type }) => type === 'mcp_tool_result')).toHaveLength(4);
      model.script(name, [{ text: 'Now it is done.' }]);
      const rest = await beta.messages.create({
        ...asked,
        messages: [...asked.messages, { role: 'assistant', content: answer.content as never }],
      });
      expect(rest.content).toMatchObject([{ type: 'text', text: 'Now it is done.' }]);
      const roles = (lastOf(name).messages as Body[]).map(({ role }) => role);
      expect(roles).toEqual([
        'user',
        ...Array.from({ length: 4 }, () => ['assistant', 'user']).flat(),
      ]);
    },
  );

  it.each(['whole', 'stream'] as const)(
    'are not made again by a client that repeats what failed (%s)',
    async (way) => {
      const name = script({ calls: [{ name: 'write' }] }, { status: 500 });
      const before = log.writes;
      const { responses } = openai(native);
      const asked = { model: name, input: 'Go', tools: [ours()] };
      await expect(
        way === 'whole' ? responses.create(asked) : responses.stream(asked).finalResponse(),
      ).rejects.toThrow('scripted failure');
      expect(log.writes).toBe(before + 1);
      expect(bodiesOf(name)).toHaveLength(2);
    },
  );
});

describe('a stream of the model with an event that is none', () => {
  it('ends with an error that names the provider', async () => {
    const name = script({ calls: [{ name: 'echo' }] }, { text: 'Hm.', breaks: true });
    const { responses } = openai(native);
    const answer = responses.stream({ model: name, input: 'Go', tools: [ours()] });
    await expect(answer.finalResponse()).rejects.toMatchObject({
      code: 'upstream.invalid_response',
    });
  });
});

describe('what changes while a request goes on holds from its next step on', () => {
  const workspace_id = () => lab.scenario.stack.credentials.workspace_id;
  const newKey = () =>
    lab.scenario.admin<{ id: string; key: string }>('POST', '/api-keys/workspace/service', {
      name: `loop-${scripted}`,
      workspace_id: workspace_id(),
      scopes: ['mcp.invoke', 'completions.write'],
    });
  /** Whole, or to the end of the stream, by a key of its own. */
  const ask = async (key: string, name: string, stream = false, label = server.slug) => {
    const answer = await lab.scenario.call('/v1/responses', {
      host: `${model.url}/v1`,
      key,
      body: { model: name, input: 'Go', stream, tools: [{ ...ours(), server_label: label }] },
    });
    return { answer, text: await answer.text() };
  };
  const lastEvent = (text: string) =>
    JSON.parse(text.trim().split('\n').at(-1)?.slice('data: '.length) ?? '') as Body;

  it.each(['whole', 'stream'] as const)(
    'a key that is deleted calls no tool any more, and asks no model (%s)',
    async (way) => {
      const { id, key } = await newKey();
      const meanwhile = () => lab.scenario.admin('DELETE', `/api-keys/${id}`);
      const name = script({ calls: [{ name: 'write' }], meanwhile }, { text: 'Done.' });
      const before = log.writes;
      const { answer, text } = await ask(key, name, way === 'stream');
      expect([log.writes - before, bodiesOf(name).length]).toEqual([0, 1]);
      const code = 'auth.invalid_key';
      if (way === 'whole') {
        expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([401, 'false']);
        expect((JSON.parse(text) as Body).error.code).toBe(code);
      } else expect(lastEvent(text)).toMatchObject({ type: 'error', code });
      // The visit of the model, that of the tool list or none, and why there was no further one.
      const left = await records.of(answer.headers.get('x-service-request-id') ?? '', 2);
      const asked = left.filter(({ endpoint }) => endpoint === 'createModelResponse');
      expect(asked.map(({ statusCode, errorCode }) => [statusCode, errorCode])).toEqual([
        [200, ''],
        [401, code],
      ]);
    },
  );

  it('a tool that is switched off, and a server that is closed, are not called', async () => {
    for (const [path, body, said, code] of [
      [
        'capabilities',
        { capabilities: [{ type: 'tool', name: 'write', enabled: false }] },
        'disab',
        'mcp.-32602',
      ],
      [
        'user-access',
        { default_user_access: 'deny', user_access: [] },
        'no access',
        'mcp.forbidden',
      ],
    ] as const) {
      const own = await lab.save({ url: tools.url });
      const meanwhile = () => lab.scenario.admin('PUT', `/mcp-servers/${own.id}/${path}`, body);
      const name = script({ calls: [{ name: 'write' }], meanwhile }, { text: 'I may not.' });
      const before = log.writes;
      const { workspace_key } = lab.scenario.stack.credentials;
      const { answer } = await ask(workspace_key, name, false, own.slug);
      expect([answer.status, log.writes - before]).toEqual([200, 0]);
      expect(toldLast(name)).toEqual([expect.stringContaining(said)]);
      // Two visits of the model, and the call that was not made.
      const requestId = answer.headers.get('x-service-request-id') ?? '';
      const left = await records.of(requestId, 3, ({ endpoint }) => endpoint !== 'mcp:tool_list');
      const calls = left.filter(({ endpoint }) => endpoint === 'mcp:tool_call');
      expect(calls.map(({ model, errorCode }) => [model, errorCode])).toEqual([[own.id, code]]);
    }
  });

  it('a policy that is made, and one for tools, limits it', async () => {
    for (const target of ['llm', 'mcp_tools'] as const) {
      const { id, key } = await newKey();
      let policy = { id: '' };
      const meanwhile = async () => {
        policy = await lab.scenario.admin('POST', '/policies/rate-limits', {
          workspace_id: workspace_id(),
          name: 'one of them',
          target,
          type: 'requests',
          unit: 'rpd',
          value: 1,
          conditions: [{ key: 'api_key', value: id }],
          group_by: [{ key: 'api_key' }],
        });
      };
      const calls = [{ name: 'write' }, { name: 'write' }];
      const name = script({ calls, meanwhile }, { calls }, { text: 'Done.' });
      const before = log.writes;
      const { answer } = await ask(key, name);
      await lab.scenario.admin('DELETE', `/policies/rate-limits/${policy.id}`);
      const seen = [answer.status, bodiesOf(name).length, log.writes - before];
      // A model is asked once more; a tool is called once.
      expect(seen).toEqual(target === 'llm' ? [429, 2, 4] : [200, 3, 1]);
    }
  });
});

describe('tools of the caller’s own beside those of servers', () => {
  const weather: OpenAI.Responses.FunctionTool = {
    type: 'function',
    name: 'get_weather',
    strict: false,
    parameters: { type: 'object', properties: {} },
  };

  it.each(vendors)('ours are run, the caller brings the rest, over $format', async ({ vendor }) => {
    const name = script(
      { calls: [{ name: 'get_weather' }, { name: 'echo', args: { b: 2 } }] },
      { text: 'Sunny.' },
    );
    const client = openai(vendor);
    const asked = { model: name, store: false, tools: [ours(), weather] };
    const input = [{ role: 'user' as const, content: 'Go' }];
    const first = await client.responses.create({ ...asked, input });
    expect(first.status).toBe('completed');
    expect(first.output.map(({ type }) => type)).toEqual([
      'mcp_list_tools',
      'function_call',
      'mcp_call',
    ]);
    const call = first.output.find((item) => item.type === 'function_call');
    const second = await client.responses.create({
      ...asked,
      input: [
        ...input,
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { type: 'function_call_output', call_id: call?.call_id ?? '', output: '21 degrees' },
      ],
    });
    expect(second.output_text).toBe('Sunny.');
    expect(second.output.map(({ type }) => type)).toEqual(['message']);
    const last = JSON.stringify(bodiesOf(name).at(-1));
    expect(last).toContain('21 degrees');
    expect(last).toContain('{\\"b\\":2}');
  });

  it('and of messages', async () => {
    const name = script(
      { calls: [{ name: 'get_weather' }, { name: 'echo', args: { b: 2 } }] },
      { text: 'Sunny.' },
    );
    const { mcp_servers, tools: sets, betas } = toolset();
    const own = { name: 'get_weather', input_schema: { type: 'object' as const } };
    const asked = { model: name, max_tokens: 100, mcp_servers, betas, tools: [...sets, own] };
    const { beta } = anthropic('anthropic');
    const messages = [{ role: 'user' as const, content: 'Go' }];
    const first = await beta.messages.create({ ...asked, messages });
    expect(first.stop_reason).toBe('tool_use');
    expect(first.content.map(({ type }) => type)).toEqual([
      'tool_use',
      'mcp_tool_use',
      'mcp_tool_result',
    ]);
    const use = first.content.find((block) => block.type === 'tool_use');
    const second = await beta.messages.create({
      ...asked,
      messages: [
        ...messages,
        { role: 'assistant', content: first.content as never },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: use?.id ?? '', content: '21 degrees' }],
        },
      ],
    });
    expect(second.content).toMatchObject([{ text: 'Sunny.' }]);
    const told = lastOf(name).messages as Body[];
    expect(told.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    const [, called = {}, brought = {}] = told;
    expect((called.content as Body[]).map(({ type }) => type)).toEqual(['tool_use', 'tool_use']);
    expect((brought.content as Body[]).map(({ type }) => type)).toEqual([
      'tool_result',
      'tool_result',
    ]);
  });
});

describe('approvals', () => {
  it.each(['whole', 'stream'] as const)('are asked for where nothing is said (%s)', async (way) => {
    const name = script(
      { calls: [{ name: 'write' }, { name: 'echo', args: { c: 3 } }] },
      { text: 'Written.' },
    );
    const before = log.writes;
    const { responses } = openai(native);
    const tool = ours({ require_approval: { never: { tool_names: ['echo'] } } });
    const ask = (input: OpenAI.Responses.ResponseInput) => {
      const asked = { model: name, input, store: false, tools: [tool] };
      return way === 'whole' ? responses.create(asked) : responses.stream(asked).finalResponse();
    };
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Go' }];
    const first = await ask(input);
    expect(first.output).toMatchObject([
      { type: 'mcp_list_tools' },
      { type: 'mcp_approval_request', name: 'write', server_label: server.slug },
      { type: 'mcp_call', name: 'echo', status: 'completed' },
    ]);
    expect(log.writes).toBe(before);
    const request = first.output.find((item) => item.type === 'mcp_approval_request');
    const word = (approve: boolean): OpenAI.Responses.ResponseInputItem => ({
      type: 'mcp_approval_response',
      approval_request_id: request?.id ?? '',
      approve,
    });
    const said = [...input, ...(first.output as OpenAI.Responses.ResponseInput)];
    const second = await ask([...said, word(true)]);
    expect(log.writes).toBe(before + 1);
    expect(second.output).toMatchObject([
      { type: 'mcp_call', name: 'write', approval_request_id: request?.id, status: 'completed' },
      { type: 'message' },
    ]);
    // Sent again as history it is not carried out again.
    const third = [...said, word(true), ...(second.output as OpenAI.Responses.ResponseInput)];
    await ask([...third, { role: 'user', content: 'And?' }]);
    expect(log.writes).toBe(before + 1);
    expect(toldLast(name)).toContain(`${before + 1}`);
    await ask([...said, word(false)]);
    expect(log.writes).toBe(before + 1);
    expect(toldLast(name)).toContain('The user did not approve this call.');
  });

  it('hold for who was asked, with the provider’s own memory as well', async () => {
    const name = script({ calls: [{ name: 'write' }] }, { text: 'Written.' });
    const before = log.writes;
    const { responses } = openai(native);
    const tool = ours({ require_approval: 'always' });
    const first = await responses.create({ model: name, input: 'Go', tools: [tool] });
    const [, request] = first.output;
    const word = {
      type: 'mcp_approval_response' as const,
      approval_request_id: request?.id ?? '',
      approve: true,
    };
    const second = await responses.create({
      model: name,
      previous_response_id: first.id,
      input: [word],
      tools: [tool],
    });
    expect(second.output_text).toBe('Written.');
    expect(log.writes).toBe(before + 1);
    expect(bodiesOf(name).at(-1)).toMatchObject({
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', output: `${before + 1}` }],
    });
    // Another key's word is none.
    const other = await lab.newKey(['mcp.invoke', 'completions.write']);
    await new OpenAI({
      apiKey: 'sk-upstream',
      baseURL: `${lab.scenario.stack.gatewayUrls[0]}/v1`,
      defaultHeaders: { ...headersFor(native), 'x-service-api-key': other },
    }).responses.create({ model: name, input: [word], tools: [tool] });
    expect(log.writes).toBe(before + 1);
  });
});

describe('which servers are ours', () => {
  const say = (name: string, tool: object, headers: Record<string, string> = {}) =>
    lab.scenario.call('/v1/responses', {
      host: `${model.url}/v1`,
      body: { model: name, input: 'Go', tools: [tool] },
      headers,
    });
  const mcp = (more: object) => ({ type: 'mcp', require_approval: 'never', ...more });
  const answers: Turn[] = [{ calls: [{ name: 'echo' }] }, { text: 'Done.' }];

  it('their own address, and no credential but the caller’s key', async () => {
    const [server_url] = lab.urls(server.slug);
    const { workspace_key } = lab.scenario.stack.credentials;
    for (const more of [{}, { authorization: workspace_key }]) {
      const name = script(...answers);
      const answer = await say(name, mcp({ server_label: 'mine', server_url, ...more }));
      expect(((await answer.json()) as Body).output).toMatchObject([
        { type: 'mcp_list_tools', server_label: 'mine' },
        { type: 'mcp_call', server_label: 'mine', status: 'completed' },
        { type: 'message' },
      ]);
    }
  });

  it('and with the gateway’s own name and flag nobody is asked', async () => {
    const name = script(...answers);
    const tool = { type: 'mcp', server_label: `@service-mcp/${server.slug}` };
    const answer = await say(name, tool, { 'x-service-beta': 'server-side-mcp-2026-06-01' });
    const { output } = (await answer.json()) as Body;
    expect((output as Body[]).map(({ type }) => type)).toEqual([
      'mcp_list_tools',
      'mcp_call',
      'message',
    ]);
  });

  it('all others go to the vendor as they came', async () => {
    const [own] = lab.urls(server.slug);
    const foreign = [
      mcp({ server_label: 'far', server_url: 'https://mcp.example.com/mcp', authorization: 'tok' }),
      mcp({ server_label: server.slug, server_url: own, authorization: 'another key' }),
      mcp({ server_label: server.slug, connector_id: 'connector_gmail' }),
    ];
    for (const tool of foreign) {
      const name = script({ text: 'Hello.' });
      expect((await say(name, tool)).status).toBe(200);
      expect(bodiesOf(name)).toMatchObject([{ tools: [tool] }]);
    }
  });

  it('what is not there, or not the caller’s, is refused before a model is asked', async () => {
    const name = script({ text: 'Hello.' });
    const unknown = await say(name, mcp({ server_label: 'nobody' }));
    expect([unknown.status, ((await unknown.json()) as Body).error.code]).toEqual([
      400,
      'tools.unknown_server',
    ]);
    const key = await lab.newKey(['completions.write']);
    const refused = await say(name, mcp({ server_label: server.slug }), {
      'x-service-api-key': key,
    });
    expect([refused.status, ((await refused.json()) as Body).error.code]).toEqual([
      403,
      'auth.missing_scope',
    ]);
    const closed = await lab.save({ url: `${model.url}/no-mcp` });
    const away = await say(name, mcp({ server_label: closed.slug }));
    expect([away.status, ((await away.json()) as Body).error.code]).toEqual([
      424,
      'tools.not_listed',
    ]);
    expect(bodiesOf(name)).toHaveLength(0);
  });

  it('servers of the newer era and of HTTP+SSE as well', async () => {
    const [modern, sse] = await Promise.all([
      startModernUpstream(),
      startSseUpstream(() => fixtureServer(log)),
    ]);
    try {
      const [newer, older] = await Promise.all([
        lab.save({ url: modern.url }),
        lab.save({ url: sse.url, transport: 'sse' }),
      ]);
      for (const { slug } of [newer, older]) {
        const name = script({ calls: [{ name: 'echo', args: { say: 'hi' } }] }, { text: 'Done.' });
        const answer = (await (await say(name, mcp({ server_label: slug }))).json()) as Body;
        expect(answer.output[1]).toMatchObject({
          type: 'mcp_call',
          error: null,
          output: expect.stringContaining('hi'),
        });
      }
    } finally {
      await Promise.all([modern.close(), sse.close()]);
    }
  });

  it('a tool that stands on every page of an endless list is offered once', async () => {
    const endless = await startLegacyUpstream({
      makeServer() {
        const made = fixtureServer(log);
        made.setRequestHandler(ListToolsRequestSchema, () => ({
          tools: ['echo', 'write'].map((name) => ({ name, inputSchema: { type: 'object' } })),
          nextCursor: 'again',
        }));
        return made;
      },
    });
    try {
      const { slug } = await lab.save({ url: endless.url });
      const name = script({ calls: [{ name: 'echo' }] }, { text: 'Done.' });
      const answer = (await (await say(name, mcp({ server_label: slug }))).json()) as Body;
      expect(answer.output[0].tools.map((tool: Body) => tool.name)).toEqual(['echo', 'write']);
      expect(answer.output[1]).toMatchObject({ type: 'mcp_call', error: null });
    } finally {
      await endless.close();
    }
  });

  it('are called each time: no answer is kept', async () => {
    const name = script({ calls: [{ name: 'write' }] }, { text: 'Done.' });
    const before = log.writes;
    const config = {
      provider: 'openai',
      api_key: 'sk-upstream',
      custom_host: `${model.url}/v1`,
      cache: { mode: 'simple' },
    };
    for (const _ of [1, 2]) {
      model.asked.delete(name);
      const answer = await lab.scenario.call('/v1/responses', {
        host: null,
        body: { model: name, input: 'Go', tools: [mcp({ server_label: server.slug })] },
        headers: { 'x-service-config': JSON.stringify(config) },
      });
      expect([answer.status, answer.headers.get('x-service-cache-status')]).toEqual([
        200,
        'DISABLED',
      ]);
      await answer.arrayBuffer();
    }
    expect(log.writes).toBe(before + 2);
  });

  it('count with the limits of the key, visits of the model and calls alike', async () => {
    const made = await lab.scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'two a minute',
      workspace_id: lab.scenario.stack.credentials.workspace_id,
      scopes: ['mcp.invoke', 'completions.write'],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 2 }],
    });
    const name = script({ calls: [{ name: 'write' }] });
    const before = log.writes;
    const answer = await say(name, mcp({ server_label: server.slug }), {
      'x-service-api-key': made.key,
    });
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([429, 'false']);
    expect(((await answer.json()) as Body).error.code).toBe('limit.rate_exceeded');
    expect([bodiesOf(name).length, log.writes]).toEqual([1, before + 1]);
  });

  it('and what they say passes the checks of the model’s input', async () => {
    // A word that nobody says but the tool.
    const rule = 'text/event-stream';
    const config = {
      provider: 'openai',
      api_key: 'sk-upstream',
      custom_host: `${model.url}/v1`,
      before_request_hooks: [
        {
          id: 'no-headers',
          type: 'guardrail',
          checks: [{ id: 'default.regexMatch', parameters: { rule, not: true } }],
          deny: true,
        },
      ],
    };
    const asked = {
      responses: { input: 'Go', tools: [mcp({ server_label: server.slug })] },
      messages: { messages: [{ role: 'user', content: 'Go' }], max_tokens: 100, ...toolset() },
    };
    for (const [format, { betas = [], ...body }] of Object.entries<Body>(asked)) {
      const name = script({ calls: [{ name: 'headers' }] }, { text: 'I saw them.' });
      const answer = await lab.scenario.call(`/v1/${format}`, {
        host: null,
        body: { model: name, ...body },
        headers: {
          'x-service-config': JSON.stringify(config),
          ...(betas.length > 0 && { 'anthropic-beta': String(betas) }),
        },
      });
      expect(answer.status, format).toBe(446);
      await answer.arrayBuffer();
      expect(bodiesOf(name), format).toHaveLength(1);
    }
  });

  it('explain tells that they would be run', async () => {
    const ask = async (label: string) =>
      (await (
        await lab.scenario.call('/v1/explain/responses', {
          body: { model: 'gpt-4o-mini', input: 'Go', tools: [mcp({ server_label: label })] },
        })
      ).json()) as Body;
    expect((await ask(server.slug)).tools).toEqual([
      { label: server.slug, server: server.slug, run_by: 'gateway' },
    ]);
    expect(await ask('nobody')).toMatchObject({
      tools: [{ label: 'nobody', would_fail: { code: 'tools.unknown_server' } }],
      would_fail: { status: 400, code: 'tools.unknown_server' },
    });
  });
});
