import Anthropic from '@anthropic-ai/sdk';
import { bytes, startUpstream, type Upstream } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RecordingSink } from '../../test/cache-request.ts';
import { deliver, replyOf } from './forms.ts';
import type { ReplyForm } from './store.ts';

let server: Upstream;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  server = await startUpstream();
  openai = new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: 'k', baseURL: server.url, maxRetries: 0 });
});
afterAll(() => server.close());

/** From now on the server answers with this JSON, told as the cache tells it. */
function serve(
  endpoint: 'chatComplete' | 'complete' | 'messages' | 'createModelResponse',
  json: object,
  form: ReplyForm,
) {
  const held = {
    form: 'json',
    contentType: 'application/json',
    storedAtMs: 0,
    body: Buffer.from(JSON.stringify(json)),
  } as const;
  const delivery = deliver(endpoint, held, form);
  if (delivery === undefined) throw new Error('this has no such form');
  const reply = replyOf(delivery);
  const sink = new RecordingSink();
  if (reply.kind === 'stream') reply.pipeTo(sink);
  server.handle(bytes(200, Buffer.from(sink.text), reply.headers as Record<string, string>));
}

const text = `${'Grüße aus 東京 👋🏽 '.repeat(120)}Ende`;
const usage = { prompt_tokens: 11, completion_tokens: 22, total_tokens: 33 };

describe('a stored chat completion, read by the openai client as a stream', () => {
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_741_569_952,
    model: 'gpt-4.1',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: {
          content: [{ token: 'Gr', logprob: -0.1, bytes: null, top_logprobs: [] }],
          refusal: null,
        },
        finish_reason: 'stop',
      },
      {
        index: 1,
        message: {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'weather', arguments: '{"c":"Oslo"}' } },
            { id: 'b', type: 'function', function: { name: 'time', arguments: '{}' } },
          ],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  };

  it('comes out as it was', async () => {
    serve('chatComplete', completion, 'stream-with-usage');
    const stream = openai.chat.completions.stream({
      model: 'm',
      messages: [],
      stream_options: { include_usage: true },
    });
    const final = await stream.finalChatCompletion();
    expect(final.usage).toEqual(usage);
    expect(final.choices).toMatchObject(completion.choices);
  });

  it('tells the usage in a last chunk without choices when that was asked for', async () => {
    serve('chatComplete', completion, 'stream-with-usage');
    const chunks = [];
    for await (const chunk of await openai.chat.completions.create({
      model: 'm',
      messages: [],
      stream: true,
    }))
      chunks.push(chunk);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
    expect(chunks.filter((chunk) => chunk.usage)).toHaveLength(1);
  });
});

describe('a stored completion, read by the openai client as a stream', () => {
  it('comes out as it was', async () => {
    const choices = [{ text, index: 0, logprobs: null, finish_reason: 'length' }];
    serve('complete', { id: 'c', object: 'text_completion', created: 1, choices, usage }, 'stream');
    let read = '';
    let finish: string | null = null;
    for await (const chunk of await openai.completions.create({
      model: 'm',
      prompt: 'p',
      stream: true,
    })) {
      read += chunk.choices[0]?.text ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    expect(read).toBe(text);
    expect(finish).toBe('length');
  });
});

describe('a stored message, read by the anthropic client as a stream', () => {
  it('comes out as it was', async () => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [
        { type: 'thinking', thinking: text, signature: 'EqoBCkgIBx==' },
        { type: 'redacted_thinking', data: 'ZW5j' },
        {
          type: 'text',
          text,
          citations: [
            {
              type: 'char_location',
              cited_text: 'c',
              document_index: 0,
              document_title: null,
              start_char_index: 0,
              end_char_index: 1,
              file_id: null,
            },
          ],
        },
        { type: 'tool_use', id: 't1', name: 'weather', input: { city: text, deep: { a: [1, 2] } } },
        { type: 'tool_use', id: 't2', name: 'time', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 7, output_tokens: 9, cache_read_input_tokens: 5 },
    };
    serve('messages', message, 'stream');
    const stream = anthropic.messages.stream({ model: 'm', max_tokens: 9, messages: [] });
    const final = await stream.finalMessage();
    expect(JSON.parse(JSON.stringify(final))).toMatchObject(message);
  });
});

describe('a stored response, read by the openai client as a stream', () => {
  it('comes out as it was', async () => {
    const response = {
      id: 'resp_1',
      object: 'response',
      created_at: 1_741_569_952,
      status: 'completed',
      model: 'gpt-5',
      output: [
        {
          id: 'rs_1',
          type: 'reasoning',
          summary: [{ type: 'summary_text', text }],
          encrypted_content: 'gAAA',
        },
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [
            {
              type: 'output_text',
              text,
              annotations: [
                { type: 'url_citation', url: 'u', title: 't', start_index: 0, end_index: 1 },
              ],
              logprobs: [],
            },
            { type: 'refusal', refusal: 'No.' },
          ],
        },
        {
          id: 'fc_1',
          type: 'function_call',
          status: 'completed',
          call_id: 'call_a',
          name: 'f',
          arguments: JSON.stringify({ city: text }),
        },
      ],
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    };
    serve('createModelResponse', response, 'stream');
    const stream = openai.responses.stream({ model: 'm', input: 'x' });
    let read = '';
    stream.on('response.output_text.delta', ({ delta }) => {
      read += delta;
    });
    const final = await stream.finalResponse();
    expect(JSON.parse(JSON.stringify(final))).toMatchObject(response);
    expect(read).toBe(text);
  });
});

describe('deliver', () => {
  it('has no other form of what is not the format, nor of an embedding', () => {
    const held = { contentType: 'application/json', storedAtMs: 0 };
    for (const body of ['', '[]', 'null', '{}', '{"choices":1}', '{'])
      expect(
        deliver('chatComplete', { ...held, form: 'json', body: Buffer.from(body) }, 'stream'),
      ).toBeUndefined();
    const embedding = { ...held, form: 'json', body: Buffer.from('{"data":[]}') } as const;
    expect(deliver('embed', embedding, 'stream')).toBeUndefined();
    expect(deliver('embed', embedding, 'json')?.body).toBe(embedding.body);
  });
});
