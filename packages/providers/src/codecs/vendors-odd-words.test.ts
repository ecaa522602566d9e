import type { ChatStreamEvent, Endpoint, JsonObject, JsonValue } from '@sluice/contracts';
import { noUsage } from '@sluice/contracts';
import { refuseGemini } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { eventFrame } from '../../test/aws-frames.ts';
import { contextFor, okHead, play } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from '../translation/find-translation.ts';
import { encodeUsage } from './anthropic-messages/wire.ts';
import { cohereChat } from './cohere-chat/index.ts';
import { faultOf } from './openai-chat/errors.ts';
import { openAiChat } from './openai-chat/index.ts';
import { decodeUsage } from './openai-chat/wire.ts';
import { openAiResponses } from './openai-responses/index.ts';

/** Small things that vendors send or refuse, each met once in what they were recorded to say. */
const user = { role: 'user', content: 'q' };

function call(id: string, endpoint: Endpoint, model = 'm') {
  const provider = findProvider(id)!;
  const facts = { model, stream: false, setting: () => undefined };
  return { provider, translation: findTranslation(provider, endpoint, facts) };
}

function sent(id: string, endpoint: Endpoint, body: JsonObject, model = 'm') {
  const { provider, translation } = call(id, endpoint, model);
  const request = { model, ...body };
  const context = contextFor(provider, true, { model, request });
  return translation.encode(request, context);
}

function events(bytes: Buffer): JsonObject[] {
  const lines = bytes.toString().split('\n');
  return lines.flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
}

function read(id: string, endpoint: Endpoint, reply: JsonObject, strict = true) {
  const { provider, translation } = call(id, endpoint);
  const bytes = Buffer.from(JSON.stringify(reply));
  const { body } = translation.decode(bytes, contextFor(provider, strict), okHead);
  return JSON.parse(String(body)) as JsonObject;
}

describe('a stream', () => {
  const chunk = (delta: JsonObject, finish: string | null = null) =>
    JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] });
  const chunks = [chunk({ content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop')];

  it.each([
    ['ends with a blank behind its [DONE]', '\n\n', 'data: [DONE] \n\n'],
    ['has line ends alone between its events', '\n', 'data: [DONE]\n'],
    ['has both', '\n', 'data: [DONE] \n'],
  ])('that %s is whole', (_name, between, end) => {
    const bytes = Buffer.from(chunks.map((data) => `data: ${data}${between}`).join('') + end);
    for (const endpoint of ['messages', 'createModelResponse', 'chatComplete'] as const) {
      const { provider, translation } = call('openrouter', endpoint);
      const reader =
        endpoint === 'createModelResponse'
          ? findTranslation(findProvider('deepseek')!, endpoint).openStream(
              contextFor(provider),
              {},
            )
          : translation.openStream(contextFor(provider), {});
      const played = play(reader, bytes, [40]);
      expect([played.fault, played.phases.at(-1)]).toEqual([undefined, 'complete']);
      expect(played.bytes.toString()).toContain('lo');
    }
  });

  it('of Bedrock’s that numbers a part otherwise where it tells it whole says it once', () => {
    const decoder = openAiResponses.openDecoder();
    const item = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hi' }],
    };
    const events: JsonObject[] = [
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_text.delta', output_index: 1, content_index: 1, delta: 'Hi' },
      { type: 'response.output_item.done', output_index: 1, item },
    ];
    const told = events.flatMap((event) =>
      decoder.decode({ name: '', data: JSON.stringify(event) }),
    );
    expect(told.filter((event) => event.type === 'text-delta')).toHaveLength(1);
  });

  it('of Cohere’s calls a function without arguments by the word null', () => {
    const decoder = cohereChat.openDecoder();
    const tool = { id: 'c', type: 'function', function: { name: 'f', arguments: '' } };
    const events: JsonObject[] = [
      { type: 'message-start', id: 'x' },
      { type: 'tool-call-start', index: 0, delta: { message: { tool_calls: tool } } },
      {
        type: 'tool-call-delta',
        index: 0,
        delta: { message: { tool_calls: { function: { arguments: 'null' } } } },
      },
    ];
    const told: ChatStreamEvent[] = events.flatMap((event) =>
      decoder.decode({ name: '', data: JSON.stringify(event) }),
    );
    expect(told).toContainEqual(
      expect.objectContaining({ type: 'tool-call-delta', arguments: '{}' }),
    );
  });
});

it('the beginning of a message tells what went in, where a provider tells it that early', () => {
  const { provider, translation } = call('google', 'messages');
  const chunk = (text: string, usageMetadata: JsonObject) =>
    `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }], usageMetadata })}\n\n`;
  const counts = { promptTokenCount: 90, cachedContentTokenCount: 30, candidatesTokenCount: 4 };
  const bytes = Buffer.from(chunk('Hel', counts) + chunk('lo', counts));
  const played = play(translation.openStream(contextFor(provider), {}), bytes, [40]);
  expect(events(played.bytes)[0]).toMatchObject({
    type: 'message_start',
    message: { usage: { input_tokens: 60, cache_read_input_tokens: 30, output_tokens: 0 } },
  });
});

it('a thought among the items of a response says how far it is, as some clients insist', () => {
  const content: JsonObject[] = [
    { type: 'thinking', thinking: 'Hm.', signature: 's' },
    { type: 'text', text: 'Hi.' },
  ];
  const reply = { id: 'm', type: 'message', role: 'assistant', content, stop_reason: 'end_turn' };
  expect(read('anthropic', 'createModelResponse', reply).output).toContainEqual(
    expect.objectContaining({ type: 'reasoning', status: 'completed' }),
  );
  const { provider, translation } = call('anthropic', 'createModelResponse');
  const told: JsonObject[] = [
    { type: 'message_start', message: reply },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];
  const bytes = Buffer.from(told.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  const played = play(translation.openStream(contextFor(provider), {}), bytes, [40]);
  const statuses = events(played.bytes).flatMap(({ type, item }) =>
    item === undefined ? [] : [[type, (item as JsonObject).status]],
  );
  expect(statuses).toEqual([
    ['response.output_item.added', 'in_progress'],
    ['response.output_item.done', 'incomplete'],
  ]);
});

describe('a reply', () => {
  it.each([
    ['UNEXPECTED_TOOL_CALL', true, 'tool_calls'],
    ['UNEXPECTED_TOOL_CALL', false, 'stop'],
    ['RECITATION', false, 'content_filter'],
    ['IMAGE_RECITATION', false, 'content_filter'],
    ['ESCALATION', false, 'content_filter'],
  ])('of Gemini’s that ends with %s, with calls: %s, ends with %s', (finishReason, calls, told) => {
    const parts = calls ? [{ functionCall: { name: 'f', args: {} } }] : [{ text: 'a' }];
    const reply = { candidates: [{ content: { role: 'model', parts }, finishReason }] };
    const { choices } = read('google', 'chatComplete', reply as JsonObject);
    expect(choices).toEqual([expect.objectContaining({ finish_reason: told })]);
  });

  it('in OpenAI’s format that ends with a refusal is one to callers of messages', () => {
    const reply = { choices: [{ message: { content: 'No.' }, finish_reason: 'refusal' }] };
    expect(read('openrouter', 'messages', reply)).toMatchObject({ stop_reason: 'refusal' });
  });

  it('of Cohere’s may have null for the arguments of a call', () => {
    const tool = { id: 'c', type: 'function', function: { name: 'f', arguments: 'null' } };
    const message = { role: 'assistant', tool_calls: [tool] };
    const { choices } = read('cohere', 'chatComplete', { message, finish_reason: 'TOOL_CALL' });
    expect(JSON.stringify(choices)).toContain('"arguments":"{}"');
  });

  it('of OpenRouter’s has the pictures that were drawn', () => {
    const image_url = { url: 'data:image/png;base64,iVBORw0=' };
    const message = { content: 'Here.', images: [{ type: 'image_url', image_url }] };
    const whole = openAiChat.decodeReply({ choices: [{ message }] });
    const source = { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0=' };
    expect(whole?.choices[0]?.parts).toContainEqual({ type: 'image', source });
    const data = JSON.stringify({ choices: [{ index: 0, delta: message }] });
    const told = openAiChat.openDecoder().decode({ name: '', data });
    expect(told).toContainEqual({ type: 'image', choice: 0, block: 0, source });
  });

  it('of Bedrock’s shows callers that are not strict what its guardrail found', () => {
    const trace = { guardrail: { actionReason: 'blocked' } };
    const reply = {
      output: { message: { role: 'assistant', content: [{ text: 'No.' }] } },
      stopReason: 'guardrail_intervened',
      trace,
    };
    expect(read('bedrock', 'chatComplete', reply, false).choices).toEqual([
      expect.objectContaining({ trace, finish_reason: 'guardrail_intervened' }),
    ]);
    expect(JSON.stringify(read('bedrock', 'chatComplete', reply))).not.toContain('trace');
  });

  // As clients parse them (`@ai-sdk/anthropic`): a member too few, and the whole answer is lost.
  it.each<[string, JsonObject, JsonObject]>([
    [
      'a page of the web',
      { web: { url: 'https://a.example' } },
      {
        type: 'web_search_result_location',
        url: 'https://a.example',
        title: null,
        encrypted_index: '',
      },
    ],
    [
      'a document',
      { documentPage: { documentIndex: 1, start: 2, end: 3 } },
      {
        type: 'page_location',
        document_index: 1,
        document_title: null,
        file_id: null,
        start_page_number: 2,
        end_page_number: 3,
      },
    ],
    [
      'a result of a search',
      { searchResultLocation: { searchResultIndex: 0, start: 1, end: 2 } },
      {
        type: 'search_result_location',
        source: '',
        title: null,
        search_result_index: 0,
        start_block_index: 1,
        end_block_index: 2,
      },
    ],
  ])(
    'of Bedrock’s that rests on %s has all that a citation of messages has',
    (_, location, told) => {
      const citation = { ...told, cited_text: '' };
      const citationsContent = { content: [{ text: 'a' }], citations: [{ location }] };
      const message = { role: 'assistant', content: [{ citationsContent }] };
      const reply = { output: { message }, stopReason: 'end_turn' };
      expect(read('bedrock', 'messages', reply).content).toEqual([
        { type: 'text', text: 'a', citations: [citation] },
      ]);
      const { provider, translation } = call('bedrock', 'messages');
      const frames: [string, JsonObject][] = [
        ['messageStart', { role: 'assistant' }],
        ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'a' } }],
        ['contentBlockDelta', { contentBlockIndex: 0, delta: { citation: { location } } }],
        ['messageStop', { stopReason: 'end_turn' }],
      ];
      const bytes = Buffer.concat(
        frames.map(([type, body]) => eventFrame(type, JSON.stringify(body))),
      );
      const played = play(translation.openStream(contextFor(provider), {}), bytes, [40]);
      expect(events(played.bytes).map(({ delta }) => delta)).toContainEqual({
        type: 'citations_delta',
        citation,
      });
    },
  );

  it('that counts more as cached than it counts at all has no more tokens than it says', () => {
    const usage = { ...noUsage, inputTokens: 10, cacheReadTokens: 161 };
    expect(encodeUsage(usage)).toMatchObject({ input_tokens: 0, cache_read_input_tokens: 10 });
  });
});

describe('usage', () => {
  it('of DashScope tells within its details what was written to the cache', () => {
    const usage = {
      prompt_tokens: 2000,
      completion_tokens: 5,
      prompt_tokens_details: {
        cached_tokens: 200,
        cache_type: 'ephemeral',
        cache_creation_input_tokens: 1500,
        cache_creation: { ephemeral_5m_input_tokens: 1500 },
      },
    };
    expect(decodeUsage(usage)).toMatchObject({
      inputTokens: 2000,
      cacheReadTokens: 200,
      cacheWriteTokens: 1500,
      cacheWrite1hTokens: 0,
    });
  });
});

describe('a request', () => {
  it('to Gemini leaves out what its stored beginning has already', () => {
    const { body, dropped } = sent(
      'google',
      'chatComplete',
      {
        messages: [{ role: 'system', content: 's' }, user],
        tools: [tool('f')],
        tool_choice: 'auto',
        cached_content: 'cachedContents/a',
      },
      'gemini-2.5-pro',
    );
    expect(refuseGemini('gemini-2.5-pro', body)).toBeUndefined();
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'q' }] }],
      cachedContent: 'cachedContents/a',
    });
    expect(dropped).toEqual(['messages[0]', 'tools', 'tool_choice']);
  });

  const tool = (name: string) => ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties: {} } },
  });

  it('to Perplexity has no two turns of one role behind each other', () => {
    const messages = [
      { role: 'system', content: 's' },
      user,
      { role: 'user', content: [{ type: 'text', text: 'more' }] },
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'b' },
      user,
    ];
    expect(sent('perplexity-ai', 'chatComplete', { messages }).body?.messages).toEqual([
      { role: 'system', content: 's' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'q' },
          { type: 'text', text: 'more' },
        ],
      },
      { role: 'assistant', content: 'a\n\nb' },
      user,
    ]);
    expect(sent('perplexity-ai', 'chatComplete', { messages: [user] }).body).toBeUndefined();
    expect(sent('openai', 'chatComplete', { messages }).body).toBeUndefined();
  });

  it.each([
    ['auto', { type: 'auto' }],
    ['required', { type: 'any' }],
  ])('that allows some of its tools, %s, offers those', (mode, choice) => {
    const allowed = { mode, tools: [{ type: 'function', function: { name: 'g' } }] };
    const { body, dropped } = sent('anthropic', 'chatComplete', {
      max_tokens: 9,
      messages: [user],
      tools: [tool('f'), tool('g')],
      tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
    });
    expect(body?.tools).toEqual([expect.objectContaining({ name: 'g' })]);
    expect(body?.tool_choice).toEqual(choice);
    expect(dropped).toEqual(['tools[0]']);
  });

  it('brings its pages back to who wrote them', () => {
    const page = { type: 'web_search_result_location', url: 'u', encrypted_index: 'E', title: 't' };
    const content_blocks = [{ type: 'text', text: 'a', citations: [page] }];
    const messages = [user, { role: 'assistant', content: 'a', content_blocks }, user];
    const { body } = sent('anthropic', 'chatComplete', { max_tokens: 9, messages });
    expect(JSON.stringify(body?.messages)).toContain('"encrypted_index":"E"');
  });

  it.each([
    ['anthropic', 'claude-opus-4-6'],
    ['bedrock', 'us.anthropic.claude-opus-4-6-v1'],
  ])('with OpenAI’s list of context management has none at %s, which is named', (id, model) => {
    const ask = (context_management: JsonValue) =>
      sent(id, 'chatComplete', { max_tokens: 9, messages: [user], context_management }, model);
    const { body, dropped } = ask([{ type: 'compaction', compact_threshold: 1000 }]);
    expect(JSON.stringify(body)).not.toContain('context_management');
    expect(dropped).toEqual(['context_management']);
    const own = ask({ edits: [] });
    expect(JSON.stringify(own.body)).toContain('"context_management":{"edits":[]}');
    expect(own.dropped).toEqual([]);
  });

  it.each([
    'gemini-3.7-flash',
    'gemini-3-flash-preview',
    'gemini-3.1-pro-preview',
    'gemini-2.5-pro',
  ])('to %s has a level of thinking that it takes', (model) => {
    for (const reasoning_effort of ['none', 'minimal', 'low', 'high', 'xhigh']) {
      const { body } = sent(
        'google',
        'chatComplete',
        { messages: [user], reasoning_effort },
        model,
      );
      expect(refuseGemini(model, body)).toBeUndefined();
    }
  });
});

it('an error in a stream has the status of its code where its type is the vendor’s own', () => {
  const told = (error: JsonObject) => faultOf({ error: { message: 'm', ...error } })?.status;
  expect(told({ type: 'rate_limit', code: 'rate_limit_exceeded' })).toBe(429);
  expect(told({ type: 'server_error', code: 'rate_limit_exceeded' })).toBe(500);
  expect(told({ type: 'odd', code: 'odd' })).toBe(502);
});
