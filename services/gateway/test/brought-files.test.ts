import Anthropic from '@anthropic-ai/sdk';
import { json } from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply, errorOf, type Scenario, startScenario } from './scenario.ts';

/** Files that the service keeps, named in requests for models of providers that cannot know them. */
let s: Scenario;
let client: OpenAI;
const bytesMax = 1_000_000;

beforeAll(async () => {
  s = await startScenario({
    logStore: true,
    environment: {
      gateway: {
        REQUEST_BODY_BYTES_MAX: String(bytesMax),
        // Three quarters of it are one workspace's.
        HELD_BODY_BYTES_MAX: String(1024 * 1024),
      },
    },
  });
  client = clientOf();
});
afterAll(() => s?.stop());

function headersOf(provider: string) {
  const config = {
    responses_store: 'gateway',
    provider,
    api_key: 'sk-upstream',
    custom_host: `${s.upstream.url}/v1`,
  };
  return { 'x-service-config': JSON.stringify(config) };
}

/** Of a provider that has chat completions alone. */
function clientOf(apiKey = s.stack.credentials.workspace_key): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: `${s.stack.gatewayUrls[0]}/v1`,
    maxRetries: 0,
    defaultHeaders: headersOf('z-ai'),
  });
}

/** With no provider named: kept by the service. */
const keep = (content: string | Buffer, name: string, by = client) =>
  toFile(Buffer.from(content), name).then((file) =>
    by.files.create({ file, purpose: 'user_data' }, { headers: { 'x-service-config': null } }),
  );

// biome-ignore lint/suspicious/noExplicitAny: of a vendor's request
const lastAsked = (): any => JSON.parse(s.upstream.requests.at(-1)?.body.toString() ?? '{}');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const model = 'glm-4.6';

describe('a file that the service keeps', () => {
  it('is sent along where a request names it, in later turns too', async () => {
    const pdf = await keep('%PDF-1.4 some', 'a.pdf');
    const png = await keep('png', 'b.PNG');
    s.upstream.handle(json(200, chatReply));
    const first = await client.responses.create({
      model,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is it?' },
            { type: 'input_file', file_id: pdf.id },
            { type: 'input_image', file_id: png.id, detail: 'low' },
          ],
        },
      ],
    });
    const sent = [
      { type: 'text', text: 'What is it?' },
      {
        type: 'file',
        file: {
          filename: 'a.pdf',
          file_data: `data:application/pdf;base64,${base64('%PDF-1.4 some')}`,
        },
      },
      {
        type: 'image_url',
        image_url: { url: `data:image/png;base64,${base64('png')}`, detail: 'low' },
      },
    ];
    expect(lastAsked().messages[0].content).toEqual(sent);
    await client.responses.create({ model, input: 'And?', previous_response_id: first.id });
    expect(lastAsked().messages[0].content).toEqual(sent);
    // Kept is what was asked.
    const { data } = await client.responses.inputItems.list(first.id);
    expect(data[0]).toMatchObject({
      content: [{}, { type: 'input_file', file_id: pdf.id }, { file_id: png.id }],
    });

    await client.chat.completions.create({
      model,
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { file_id: pdf.id, filename: 'own.pdf' } }],
        },
      ],
    });
    expect(lastAsked().messages[0].content[0].file).toEqual({
      ...sent[1]?.file,
      filename: 'own.pdf',
    });
  });

  it('is sent along in Anthropic’s words', async () => {
    const [pdf, txt] = await Promise.all([keep('%PDF', 'a.pdf'), keep('Plain.', 'a.txt')]);
    const anthropic = new Anthropic({
      apiKey: s.stack.credentials.workspace_key,
      baseURL: s.stack.gatewayUrls[0] as string,
      maxRetries: 0,
      defaultHeaders: headersOf('anthropic'),
    });
    s.upstream.handle(json(400, { type: 'error', error: { type: 'x', message: 'seen' } }));
    const document = (id: string) => ({ type: 'document', source: { type: 'file', file_id: id } });
    const ownsTool = { type: 'tool_use', id: 't', name: 'f', input: document(pdf.id) };
    const messages = [
      { role: 'user', content: [document(pdf.id), document(txt.id)] },
      { role: 'assistant', content: [ownsTool] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't', content: [document(txt.id)] }],
      },
    ] as unknown as Anthropic.MessageParam[];
    await expect(
      anthropic.messages.create({ model: 'claude-sonnet-4-5', max_tokens: 5, messages }),
    ).rejects.toThrow('seen');
    const plain = { type: 'text', media_type: 'text/plain', data: 'Plain.' };
    const [asked, called, told] = lastAsked().messages;
    expect(asked.content).toEqual([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: base64('%PDF') },
      },
      { type: 'document', source: plain },
    ]);
    expect(called.content).toEqual([ownsTool]);
    expect(told.content[0].content).toEqual([{ type: 'document', source: plain }]);
  });

  it('is nobody else’s, and no larger than a request may be or bodies are held; a file of the provider’s stays its own', async () => {
    const file = await keep('x'.repeat(bytesMax), 'large.txt');
    const { id } = await s.admin<{ id: string }>('POST', '/admin/workspaces', { name: 'Others' });
    const { key } = await s.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'theirs',
      scopes: ['completions.write'],
      workspace_id: id,
    });
    const before = s.upstream.requests.length;
    const ask = (fileId: string, by = client) =>
      by.responses.create({
        model,
        input: [{ role: 'user', content: [{ type: 'input_file', file_id: fileId }] }],
      });
    const param = 'body.input[0].content[0].file_id';
    await expect(ask(file.id, clientOf(key))).rejects.toMatchObject({
      status: 404,
      code: 'file.not_found',
      param,
    });
    await expect(ask('file-svc_nonsense')).rejects.toMatchObject({ status: 404, param });
    await expect(ask(file.id)).rejects.toMatchObject({
      status: 413,
      code: 'request.too_large',
      param,
    });
    const held = await keep('x'.repeat(700_000), 'held.txt');
    await expect(ask(held.id)).rejects.toMatchObject({ status: 503, code: 'overloaded' });
    expect(s.upstream.requests.length).toBe(before);
    s.upstream.handle(json(200, chatReply));
    await ask('file-abc');
    expect(lastAsked().messages[0].content[0].file.file_id).toBe('file-abc');
  });

  it('is counted with what is in it', async () => {
    const counted = async (words: number) => {
      const file = await keep('forbidden '.repeat(words), 'a.txt');
      const content = [{ type: 'file', file: { file_id: file.id } }];
      const answer = await s.call('/v1/gateway/tokenize', {
        body: { model, messages: [{ role: 'user', content }] },
        host: null,
        headers: headersOf('z-ai'),
      });
      return ((await answer.json()) as { input_tokens: number }).input_tokens;
    };
    expect(await counted(4000)).toBeGreaterThan(2 * (await counted(1000)));
  });
});

describe('a file that the service keeps, named where the provider needs one of its own', () => {
  const ids = (id: string) => ({ file_ids: [id] });
  const tools = (id: string) => ({ tool_resources: { code_interpreter: ids(id) } });
  const message = (id: string) => ({ role: 'user', content: 'Hi', attachments: [{ file_id: id }] });
  const image = (id: string) => ({
    role: 'user',
    content: [{ type: 'image_file', image_file: { file_id: id } }],
  });
  it.each<[path: string, body: (id: string) => object]>([
    ['/v1/vector_stores', ids],
    ['/v1/vector_stores/vs_1/files', (id) => ({ file_id: id })],
    ['/v1/vector_stores/vs_1/file_batches', ids],
    ['/v1/vector_stores/vs_1/file_batches', (id) => ({ files: [{ file_id: id }] })],
    ['/v1/containers', (id) => ({ name: 'c', ...ids(id) })],
    ['/v1/containers/cntr_1/files', (id) => ({ file_id: id })],
    ['/v1/assistants', (id) => ({ model, ...tools(id) })],
    ['/v1/assistants/asst_1', tools],
    [
      '/v1/assistants',
      (id) => ({ model, tool_resources: { file_search: { vector_stores: [ids(id)] } } }),
    ],
    ['/v1/threads', tools],
    ['/v1/threads', (id) => ({ messages: [message(id)] })],
    ['/v1/threads', (id) => ({ messages: [image(id)] })],
    ['/v1/threads/thread_1', tools],
    ['/v1/threads/thread_1/messages', message],
    [
      '/v1/threads/thread_1/runs',
      (id) => ({ assistant_id: 'a', additional_messages: [message(id)] }),
    ],
    ['/v1/threads/runs', (id) => ({ assistant_id: 'a', thread: { messages: [message(id)] } })],
    ['/v1/threads/runs', (id) => ({ assistant_id: 'a', thread: tools(id) })],
    ['/v1/fine_tuning/jobs', (id) => ({ model, training_file: id })],
    ['/v1/fine_tuning/jobs', (id) => ({ model, training_file: 'file-1', validation_file: id })],
    ['/v1/batches', (id) => ({ input_file_id: id, endpoint: '/v1/embeddings' })],
    [
      '/v1/responses',
      (id) => ({
        model,
        input: 'Hi',
        tools: [{ type: 'code_interpreter', container: { type: 'auto', ...ids(id) } }],
      }),
    ],
  ])('is refused with what to do, and its id is not sent: %s %#', async (path, body) => {
    const { id } = await keep('{"a":1}', 'a.jsonl');
    const before = s.upstream.requests.length;
    const config = { provider: 'openai', api_key: 'sk', custom_host: `${s.upstream.url}/v1` };
    const answer = await s.call(path, {
      body: body(id),
      host: null,
      headers: { 'x-service-config': JSON.stringify(config), 'openai-beta': 'assistants=v2' },
    });
    const { status, code, param, message } = await errorOf(answer);
    expect({ status, code }).toEqual({ status: 400, code: 'request.invalid_field' });
    expect(param).toMatch(/^body\./);
    expect(message).toContain('upload it there');
    expect(s.upstream.requests).toHaveLength(before);
  });

  it('is told from a file of the provider’s in a path', async () => {
    const { id } = await keep('{"a":1}', 'a.jsonl');
    const config = { provider: 'openai', api_key: 'sk', custom_host: `${s.upstream.url}/v1` };
    const before = s.upstream.requests.length;
    for (const path of [`/v1/files/${id}`, `/v1/files/${id}/content`]) {
      const answer = await s.call(path, {
        method: 'GET',
        host: null,
        headers: { 'x-service-config': JSON.stringify(config) },
      });
      expect(await errorOf(answer)).toMatchObject({
        status: 404,
        code: 'file.not_found',
        message: expect.stringContaining('without naming a provider'),
      });
    }
    expect(s.upstream.requests).toHaveLength(before);
  });
});
