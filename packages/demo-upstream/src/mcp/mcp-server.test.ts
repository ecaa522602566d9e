import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoUpstream, startDemoUpstream } from '../index.ts';

let demo: DemoUpstream;
let url: URL;
beforeAll(async () => {
  demo = await startDemoUpstream({ port: 0 });
  url = new URL(`${demo.url}/mcp`);
});
afterAll(() => demo.close());

const info = { name: 'test', version: '1' };
const said = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Paris' } } as const;
const accepted = { action: 'accept', content: { name: 'Ada' } } as const;
const textIn = (result: unknown) =>
  (result as { content: { text: string }[] }).content.map((part) => part.text).join('');

async function legacyClient() {
  const client = new Client(info, { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, () => said);
  client.setRequestHandler(ElicitRequestSchema, () => accepted);
  const transport = new StreamableHTTPClientTransport(url);
  await client.connect(transport);
  return { client, transport };
}

async function modernClient() {
  const client = new ModernClient(info, {
    capabilities: { sampling: {}, elicitation: { form: {} } },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  });
  client.setRequestHandler('sampling/createMessage', () => said);
  client.setRequestHandler('elicitation/create', () => accepted);
  await client.connect(new ModernTransport(url));
  return client;
}

describe('an old client', () => {
  it('lists, calls, reads, asks for prompts and completions', async () => {
    const { client } = await legacyClient();
    expect(client.getServerVersion()?.name).toBe('sluice-demo');
    expect(client.getInstructions()).toContain('echo');
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([
      'echo',
      'add',
      'slow',
      'count',
      'ask_model',
      'ask_person',
    ]);
    const sum = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } });
    expect(sum.structuredContent).toEqual({ sum: 5 });
    const wrong = await client.callTool({ name: 'echo', arguments: { text: 1 } });
    expect(wrong.isError).toBe(true);
    const square = await client.readResource({ uri: 'demo://squares/12' });
    expect(square.contents[0]).toMatchObject({ text: '144' });
    await expect(client.readResource({ uri: 'demo://none' })).rejects.toMatchObject({
      code: -32002,
    });
    const prompt = await client.getPrompt({ name: 'greet', arguments: { language: 'Dutch' } });
    expect(JSON.stringify(prompt.messages)).toContain('Dutch');
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'language', value: 'd' },
    });
    expect(completed.completion.values).toEqual(['Dutch']);
    await client.close();
  });

  it('is told of progress, logs and updates, and is asked', async () => {
    const { client } = await legacyClient();
    const heard: string[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      heard.push(String(params.data));
    });
    const updated = new Promise((resolve) =>
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
        resolve(params.uri),
      ),
    );
    const steps: unknown[] = [];
    const slow = { name: 'slow', arguments: { seconds: 0.05, steps: 3 } };
    await client.callTool(slow, undefined, { onprogress: (at) => steps.push(at.progress) });
    expect(steps).toEqual([1, 2, 3]);
    expect(heard).toEqual(['step 1', 'step 2', 'step 3']);
    await client.subscribeResource({ uri: 'demo://count' });
    await client.callTool({ name: 'count' });
    expect(await updated).toBe('demo://count');
    const asked = await client.callTool({ name: 'ask_model', arguments: { question: 'Where?' } });
    expect(textIn(asked)).toBe('The model said: Paris');
    expect(textIn(await client.callTool({ name: 'ask_person' }))).toBe('Hello, Ada.');
    await client.close();
  });

  it('cancels, and ends its session', async () => {
    const { client, transport } = await legacyClient();
    const abort = new AbortController();
    const slow = client.callTool({ name: 'slow', arguments: { seconds: 60 } }, undefined, {
      signal: abort.signal,
    });
    setTimeout(() => abort.abort('enough'), 20);
    await expect(slow).rejects.toThrow('enough');
    const session = transport.sessionId as string;
    await transport.terminateSession();
    const late = await post({ method: 'ping' }, { 'mcp-session-id': session });
    expect(late.status).toBe(404);
    await client.close();
  });
});

describe('a client of 2026-07-28', () => {
  it('lists, calls, is told and is asked', async () => {
    const client = await modernClient();
    expect((await client.listTools()).tools).toHaveLength(6);
    const steps: unknown[] = [];
    const slow = { name: 'slow', arguments: { seconds: 0.05, steps: 3 } };
    await client.callTool(slow, { onprogress: (at) => steps.push(at.progress) });
    expect(steps).toEqual([1, 2, 3]);
    const asked = await client.callTool({ name: 'ask_model', arguments: { question: 'Where?' } });
    expect(textIn(asked)).toBe('The model said: Paris');
    expect(textIn(await client.callTool({ name: 'ask_person' }))).toBe('Hello, Ada.');
    await client.close();
  });

  it('hears of what it listens to', async () => {
    const client = await modernClient();
    const updated = new Promise((resolve) =>
      client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
        resolve(params.uri),
      ),
    );
    const subscription = await client.listen({ resourceSubscriptions: ['demo://count'] });
    await client.callTool({ name: 'count' });
    expect(await updated).toBe('demo://count');
    await subscription.close();
    await client.close();
  });

  it('is refused by what the revision says', async () => {
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const codeOf = async (body: object, more: Record<string, string> = {}) => {
      const answer = await post(body, { ...headers, ...more });
      const { error } = (await answer.json()) as { error?: { code: number } };
      return [answer.status, error?.code];
    };
    const list = { method: 'tools/list', params: { _meta } };
    expect(await codeOf(list)).toEqual([200, undefined]);
    expect(await codeOf(list, { 'mcp-method': 'tools/call' })).toEqual([400, -32020]);
    expect(await codeOf({ method: 'tools/list', params: {} })).toEqual([400, -32020]);
    const none = { method: 'no/such', params: { _meta } };
    expect(await codeOf(none, { 'mcp-method': 'no/such' })).toEqual([404, -32601]);
    const ask = {
      method: 'tools/call',
      params: { name: 'ask_person', arguments: {}, requestState: 'forged', _meta },
    };
    const askHeaders = { 'mcp-method': 'tools/call', 'mcp-name': 'ask_person' };
    expect(await codeOf(ask, askHeaders)).toEqual([200, -32602]);
    const { requestState: _, ...first } = ask.params;
    expect(await codeOf({ ...ask, params: first }, askHeaders)).toEqual([400, -32021]);
  });
});

describe('bad requests', () => {
  it('are refused as the old revisions say', async () => {
    expect((await post({ method: 'ping' })).status).toBe(400);
    expect((await post({ method: 'ping' }, { 'mcp-session-id': 'x' })).status).toBe(404);
    expect((await post({ method: 'ping' }, { accept: 'application/json' })).status).toBe(406);
    expect((await post({ method: 'ping' }, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post({ method: 'ping' }, { origin: 'https://example.com' })).status).toBe(403);
    expect((await fetch(url, { method: 'PUT' })).status).toBe(405);
  });
});

function post(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  });
}
