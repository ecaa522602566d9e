import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Records, readRecords } from '../records.ts';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';
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
  model.scripts.set(name, turns);
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

describe.each(vendors)('/v1/responses over $format', ({ vendor }) => {
  it.each(['whole', 'stream'] as const)('%s: calls, results and one answer', async (way) => {
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
    const found = await records.of(requestId, 6);
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
  it.each(['whole', 'stream'] as const)('%s: calls, results and one answer', async (way) => {
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
    model.scripts.set(name, [{ text: 'And more.' }]);
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
