import Anthropic from '@anthropic-ai/sdk';
import { json } from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply, type Scenario, startScenario } from './scenario.ts';

/** Files that the service keeps, named in requests for models of providers that cannot know them. */
let s: Scenario;
let client: OpenAI;
const bytesMax = 1_000_000;

beforeAll(async () => {
  s = await startScenario({
    logStore: true,
    lazyLedger: true,
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
