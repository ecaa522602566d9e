import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import {
  contextFor,
  everywhere,
  fixtures,
  insideCharacters,
  okHead,
  play,
  pretty,
  someFixtures,
} from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { ProviderEntry } from '../../contract.ts';
import { parseSseEvents } from '../../framing/sse.ts';
import { objectOf, parseObject } from '../../json/json-access.ts';
import { findTranslation } from '../../translation/find-translation.ts';
import { openAiResponses } from './index.ts';

const openai = findProvider('openai')!;
const anthropic = findProvider('anthropic')!;
const google = findProvider('google')!;
const chatOnly = findProvider('cometapi')!;
/** Offers this format alone, as some models do. */
const responsesOnly: ProviderEntry = {
  ...openai,
  endpoints: { createModelResponse: openai.endpoints.createModelResponse! },
};
const native = findTranslation(openai, 'createModelResponse');
/** Asked in this format, answered in another. */
const viaChat = findTranslation(chatOnly, 'createModelResponse');
const viaAnthropic = findTranslation(anthropic, 'createModelResponse');
const viaGoogle = findTranslation(google, 'createModelResponse');
/** Answers in this format, asked in another. */
const chat = findTranslation(responsesOnly, 'chatComplete');
const messages = findTranslation(responsesOnly, 'messages');

const tool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };

describe('requests', () => {
  for (const fixture of fixtures('openai-responses', 'request')) {
    it(`decodes ${fixture.name}, and encodes it for others with what was dropped`, async () => {
      await expect(pretty(openAiResponses.decodeRequest(fixture.json()))).toMatchFileSnapshot(
        fixture.golden('model.json'),
      );
      await expect(
        pretty(viaChat.encode(fixture.json(), contextFor(chatOnly))),
      ).toMatchFileSnapshot(fixture.golden('chat.json'));
      if (fixture.name === 'audio') return;
      await expect(
        pretty(viaAnthropic.encode(fixture.json(), contextFor(anthropic))),
      ).toMatchFileSnapshot(fixture.golden('anthropic.json'));
    });

    // What other providers wrote is taken out: see own-words.test.ts.
    if (fixture.name !== 'reasoning')
      it(`leaves ${fixture.name} alone where the provider speaks the format`, () => {
        expect(native.encode(fixture.json(), contextFor(openai)).body).toBeUndefined();
      });

    it(`means the same by ${fixture.name} after a way through the model`, async () => {
      const through = (body: JsonObject) => {
        const { request } = openAiResponses.decodeRequest(body);
        return openAiResponses.encodeRequest(request, contextFor(openai));
      };
      const once = through(fixture.json());
      await expect(pretty(once)).toMatchFileSnapshot(fixture.golden('again.json'));
      expect(through(once.body).body).toEqual(once.body);
    });
  }

  for (const [name, call, names] of [
    ['openai-chat', chat, ['tools', 'multimodal', 'thinking', 'unsupported-fields']],
    ['anthropic-messages', messages, ['basic', 'documents', 'tools']],
  ] as const)
    for (const fixture of someFixtures(name, 'request', ...names))
      it(`encodes ${name} ${fixture.name} for a model that offers only responses`, () =>
        expect(pretty(call.encode(fixture.json(), contextFor(responsesOnly)))).toMatchFileSnapshot(
          fixture.golden('responses.json'),
        ));

  it.each([
    [{ input: 'x' }, 'model'],
    [{ model: 'm' }, 'input'],
    [{ model: 'm', input: [7] }, 'input[0]'],
    [{ model: 'm', input: [{ role: 'bot', content: 'x' }] }, 'input[0].role'],
    [{ model: 'm', input: [{ role: 'user', content: 7 }] }, 'input[0].content'],
    [
      { model: 'm', input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
      'input[0].content[0]',
    ],
    [{ model: 'm', input: [{ type: 'function_call', call_id: 'c' }] }, 'input[0].name'],
    [{ model: 'm', input: [{ type: 'function_call_output', output: '' }] }, 'input[0].call_id'],
    [{ model: 'm', input: 'x', background: true }, 'background'],
    [{ model: 'm', input: 'x', tools: [tool, { type: 'custom' }] }, 'tools[1].name'],
    [{ model: 'm', input: 'x', tools: [tool], tool_choice: {} }, 'tool_choice'],
  ])('refuses %j with the path of the fault where it has to be translated', (body, field) => {
    for (const call of [viaChat, viaAnthropic])
      expect(() => call.encode(body as JsonObject, contextFor(anthropic))).toThrow(
        expect.objectContaining({ code: 'request.invalid_field', field: `body.${field}` }),
      );
    expect(native.encode(body as JsonObject, contextFor(openai)).body).toBeUndefined();
  });

  it.each([
    [{ model: 'm', input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0]'],
    [{ model: 'm', input: ['fc_1'].map((id) => ({ type: 'item_reference', id })) }, 'input[0]'],
    [{ model: 'm', input: [{ type: 'item_reference' }] }, 'input[0]'],
    [{ model: 'm', input: 'x', previous_response_id: 'r' }, 'previous_response_id'],
    [{ model: 'm', input: 'x', conversation: 'c' }, 'conversation'],
    [{ model: 'm', prompt: { id: 'p' } }, 'prompt'],
  ])('asks for all of it where %j refers to what another provider keeps', (body, field) => {
    const refused = expect.objectContaining({
      code: 'request.state_not_kept',
      status: 400,
      field: `body.${field}`,
      message: expect.stringMatching(/in full|`store: false`/),
    });
    for (const call of [viaChat, viaAnthropic])
      expect(() => call.encode(body as JsonObject, contextFor(anthropic))).toThrow(refused);
    expect(native.encode(body as JsonObject, contextFor(openai)).body).toBeUndefined();
  });

  it('does without a thought that is stored elsewhere, and names it', () => {
    const question = { role: 'user', content: 'Hi' };
    const input = [question, { type: 'item_reference', id: 'rs_1' }];
    const { body, dropped } = viaChat.encode({ model: 'm', input }, contextFor(anthropic));
    expect(dropped).toEqual(['input[1]']);
    expect(body).toEqual(
      viaChat.encode({ model: 'm', input: [question] }, contextFor(anthropic)).body,
    );
  });

  it('asks for usage in streams of chat providers, whoever the caller is', () => {
    const asked = { model: 'm', input: 'x', stream: true };
    const told = { model: 'm', messages: [], max_tokens: 1, stream: true };
    const viaMessages = findTranslation(chatOnly, 'messages');
    for (const { body } of [
      viaChat.encode(asked, contextFor(chatOnly)),
      viaMessages.encode(told, contextFor(chatOnly)),
    ])
      expect(body?.stream_options).toEqual({ include_usage: true });
  });

  it('keeps nothing at the provider, and asks for encrypted reasoning where there is reasoning', () => {
    const ask = (extra: object) =>
      chat.encode({ model: 'm', messages: [], ...extra }, contextFor(responsesOnly)).body;
    expect(ask({})).toMatchObject({ store: false });
    expect(ask({})).not.toHaveProperty('include');
    expect(ask({ reasoning_effort: 'none' })).not.toHaveProperty('include');
    expect(ask({ reasoning_effort: 'low', store: true })).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low' },
    });
  });
});

/** As clients gather them which go by the end of each: Codex, the AI SDK. */
function itemsAsDone(events: readonly JsonObject[]): JsonObject[] {
  const done = events.filter(({ type }) => type === 'response.output_item.done');
  return done.map(({ item }) => item as JsonObject);
}

describe('thoughts on their way through a caller', () => {
  const turn = (content: object[], rest: object = {}) => ({
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content,
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
    ...rest,
  });
  const blocks: JsonObject[] = [
    { type: 'thinking', thinking: 'I should look.', signature: 'EqQB+/=' },
    { type: 'redacted_thinking', data: 'AbCd' },
    { type: 'text', text: 'Let me look.' },
    { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
  ];

  it('come back to Anthropic as they were, signed and redacted', () => {
    const reply = viaAnthropic.decode(
      Buffer.from(JSON.stringify(turn(blocks))),
      contextFor(anthropic),
      okHead,
    );
    const { output } = JSON.parse(String(reply.body)) as { output: JsonObject[] };
    const input = [{ role: 'user', content: 'x' }, ...output, { role: 'user', content: 'y' }];
    const { body, dropped } = viaAnthropic.encode(
      { model: 'claude', input },
      contextFor(anthropic),
    );
    expect((body as { messages: JsonObject[] }).messages[1]).toEqual({
      role: 'assistant',
      content: blocks,
    });
    expect(dropped).toEqual([]);
  });

  it('come back to Gemini, which signs what it says and calls', () => {
    const parts = [
      { text: 'Let me look.', thoughtSignature: 'TEXT' },
      { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'CALL' },
      { functionCall: { name: 'g', args: {} } },
    ];
    const reply = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
    const whole = viaGoogle.decode(Buffer.from(JSON.stringify(reply)), contextFor(google), okHead);
    const reader = viaGoogle.openStream(contextFor(google), { model: 'gemini-3-pro' });
    const told = reader.push(Buffer.from(`data: ${JSON.stringify(reply)}\n\n`));
    const events = parseSseEvents(Buffer.concat([told, reader.end()])).map(
      ({ data }) => parseObject(data)!,
    );
    const outputs = [
      (JSON.parse(String(whole.body)) as JsonObject).output,
      objectOf(events.at(-1)?.response)?.output,
      itemsAsDone(events),
    ];
    for (const output of outputs as JsonObject[][]) {
      expect(output.map(({ type }) => type)).toEqual([
        'message',
        'reasoning',
        'function_call',
        'reasoning',
        'function_call',
      ]);
      const input = [{ role: 'user', content: 'x' }, ...output];
      const { body } = viaGoogle.encode({ model: 'gemini-3-pro', input }, contextFor(google));
      expect((body as { contents: JsonObject[] }).contents[1]).toMatchObject({ parts });
    }
  });

  it('stand before the call that they led to in the order in which items end, and come back so', () => {
    const content: JsonObject[] = [
      { type: 'thinking', thinking: 'One.', signature: 'EqQB+/=' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
      { type: 'thinking', thinking: 'Two.', signature: 'EqQC+/=' },
      { type: 'tool_use', id: 'toolu_2', name: 'f', input: {} },
      { type: 'text', text: 'I look.' },
    ];
    const stream = content.flatMap((block, index): JsonObject[] => {
      const delta = (fields: JsonObject) => ({ type: 'content_block_delta', index, delta: fields });
      const { thinking, signature } = block;
      const isThought = block.type === 'thinking';
      const begun = isThought ? { ...block, thinking: '', signature: '' } : block;
      return [
        { type: 'content_block_start', index, content_block: begun },
        ...(isThought
          ? [
              delta({ type: 'thinking_delta', thinking: thinking! }),
              delta({ type: 'signature_delta', signature: signature! }),
            ]
          : []),
        { type: 'content_block_stop', index },
      ];
    });
    stream.push(
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    );
    const bytes = stream.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    const reader = viaAnthropic.openStream(contextFor(anthropic), { model: 'claude' });
    const told = Buffer.concat([reader.push(Buffer.from(bytes.join(''))), reader.end()]);
    const items = itemsAsDone(parseSseEvents(told).map(({ data }) => parseObject(data)!));
    expect(items.map(({ type, name }) => name ?? type)).toEqual([
      'reasoning',
      'f',
      'reasoning',
      'f',
      'message',
    ]);
    const results = ['toolu_1', 'toolu_2'].map((call_id) => ({
      type: 'function_call_output',
      call_id,
      output: 'x',
    }));
    const request = {
      model: 'claude',
      input: [{ role: 'user', content: 'x' }, ...items, ...results],
    };
    const { body } = viaAnthropic.encode(request, contextFor(anthropic));
    expect((body as { messages: JsonObject[] }).messages[1]).toEqual({
      role: 'assistant',
      content,
    });
  });

  it('come back to a provider of responses through callers of messages', () => {
    const item = {
      id: 'rs_1',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'gAAA',
    };
    const reply = { id: 'resp_1', object: 'response', status: 'completed', output: [item] };
    const { body } = messages.decode(
      Buffer.from(JSON.stringify(reply)),
      contextFor(responsesOnly),
      okHead,
    );
    const { content } = JSON.parse(String(body));
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'openai:encrypted:gAAA' },
    ]);
    const history = { model: 'm', max_tokens: 1, messages: [{ role: 'assistant', content }] };
    const { id: _, ...expected } = item;
    expect(messages.encode(history, contextFor(responsesOnly)).body).toMatchObject({
      input: [expected],
      include: ['reasoning.encrypted_content'],
    });
  });

  it('are blocks of their own in a stream, each with its own proof', () => {
    const thought = (id: string, output_index: number) => [
      { type: 'response.output_item.added', output_index, item: { id, type: 'reasoning' } },
      {
        type: 'response.output_item.done',
        output_index,
        item: {
          id,
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: `Thought ${id}.` }],
          encrypted_content: id,
        },
      },
    ];
    const stream = [...thought('a', 0), ...thought('b', 1)]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join('');
    const reader = messages.openStream(contextFor(responsesOnly), { model: 'm' });
    const told = parseSseEvents(reader.push(Buffer.from(stream))).map(({ data }) => {
      const { type, index, delta } = parseObject(data)!;
      return [type, index, delta];
    });
    const signed = (signature: string) => ({ type: 'signature_delta', signature });
    expect(told.filter(([type]) => type === 'content_block_start')).toHaveLength(2);
    expect(told).toContainEqual(['content_block_delta', 0, signed('openai:encrypted:a')]);
    expect(told).toContainEqual(['content_block_delta', 1, signed('openai:encrypted:b')]);
  });

  it('are not shown to a provider that did not have them', () => {
    const history = {
      model: 'm',
      max_tokens: 16,
      messages: [{ role: 'assistant', content: blocks.slice(0, 3) }],
    };
    expect(messages.encode(history, contextFor(responsesOnly))).toMatchObject({
      body: { input: [{ type: 'message', role: 'assistant' }] },
      dropped: ['messages[0].thinking', 'messages[0].redacted_thinking'],
    });
  });
});

describe('replies', () => {
  for (const fixture of fixtures('openai-responses', 'response')) {
    it(`decodes ${fixture.name}, and encodes it for callers of other formats`, async () => {
      await expect(pretty(openAiResponses.decodeReply(fixture.json()))).toMatchFileSnapshot(
        fixture.golden('model.json'),
      );
      const told = [chat, messages].map((call) =>
        call.decode(fixture.bytes, contextFor(responsesOnly), okHead),
      );
      const [asChat, asMessage] = told.map(({ body }) => JSON.parse(String(body)));
      await expect(
        pretty({ chat: asChat, messages: asMessage, facts: told[0]?.facts }),
      ).toMatchFileSnapshot(fixture.golden('others.json'));
    });

    it(`reads the facts of ${fixture.name} without changing a byte`, () => {
      const read = native.decode(fixture.bytes, contextFor(openai), okHead);
      expect(read.body).toBeUndefined();
      expect(read.facts).toEqual(chat.decode(fixture.bytes, contextFor(openai), okHead).facts);
    });

    it(`loses nothing of ${fixture.name} through the model`, () => {
      const reply = openAiResponses.decodeReply(fixture.json())!;
      const options = {
        provider: 'openai',
        strict: true,
        nowMs: 1_756_315_700_000,
        requestedModel: undefined,
        request: {},
      };
      const again = openAiResponses.decodeReply(openAiResponses.encodeReply(reply, options));
      expect(again).toEqual(reply);
    });
  }

  for (const [format, call, names] of [
    ['openai-chat', viaChat, ['text', 'tool-calls', 'refusal', 'reasoning-logprobs']],
    ['anthropic-messages', viaAnthropic, ['citations', 'max-tokens', 'thinking-tools']],
  ] as const)
    for (const fixture of someFixtures(format, 'response', ...names))
      it(`encodes ${format} ${fixture.name}, and repeats the request`, () => {
        const request = {
          model: 'asked',
          input: 'x',
          instructions: 'Be brief.',
          metadata: { a: 'b' },
          temperature: 0,
          text: { verbosity: 'low' },
          tools: [{ type: 'function', name: 'f' }],
          store: true,
        };
        const { body } = call.decode(
          fixture.bytes,
          contextFor(anthropic, true, { request }),
          okHead,
        );
        return expect(pretty(JSON.parse(String(body)))).toMatchFileSnapshot(
          fixture.golden('responses.json'),
        );
      });

  it('tells of a response that failed as of an error', () => {
    const failed = {
      object: 'response',
      status: 'failed',
      output: [],
      error: { code: 'rate_limit_exceeded', message: 'Slow down.' },
    };
    for (const call of [chat, messages])
      expect(() =>
        call.decode(Buffer.from(JSON.stringify(failed)), contextFor(openai), okHead),
      ).toThrow(
        expect.objectContaining({ code: 'upstream.error', status: 429, message: 'Slow down.' }),
      );
  });

  it.each(['', '[]', '{}', '{"object":"response"}'])('refuses %j as not the format', (text) => {
    for (const call of [chat, messages])
      expect(() => call.decode(Buffer.from(text), contextFor(openai), okHead)).toThrow(
        expect.objectContaining({ code: 'upstream.invalid_response' }),
      );
  });
});

describe('errors', () => {
  for (const fixture of fixtures('openai-responses', 'error'))
    it(`tells of ${fixture.name} in the caller’s shape`, async () => {
      const status = Number(fixture.name.split('.').at(-1));
      const told = [chat, messages, viaChat].map((call) =>
        JSON.parse(String(call.decodeError(status, fixture.bytes, contextFor(openai)).body)),
      );
      await expect(pretty(told)).toMatchFileSnapshot(fixture.golden('told.json'));
      expect(native.decodeError(status, fixture.bytes, contextFor(openai)).body).toBeUndefined();
    });
});

describe('streams', () => {
  const ways = [
    { name: 'native', call: native, told: fixtures('openai-responses', 'stream') },
    { name: 'chat', call: chat, told: fixtures('openai-responses', 'stream') },
    { name: 'messages', call: messages, told: fixtures('openai-responses', 'stream') },
    {
      name: 'responses',
      call: viaChat,
      told: someFixtures(
        'openai-chat',
        'stream',
        ...['text', 'parallel-tool-calls', 'refusal', 'mid-stream-error', 'reasoning-no-done'],
      ),
    },
    {
      name: 'responses',
      call: viaAnthropic,
      told: someFixtures(
        'anthropic-messages',
        'stream',
        ...['thinking', 'parallel-tool-calls', 'max-tokens', 'mid-stream-error'],
      ),
    },
  ];
  for (const { name, call, told } of ways) {
    const open = () =>
      call.openStream(contextFor(openai, name !== 'chat', { request: { model: 'asked' } }), {
        model: 'm',
      });
    for (const fixture of told)
      it(`${name}: reads ${call.upstreamFormat} ${fixture.name} the same however it is cut`, async () => {
        const whole = play(open(), fixture.bytes, []);
        const { phases, facts, fault } = play(open(), fixture.bytes, everywhere(fixture.bytes));
        if (name === 'native') {
          expect(whole.bytes.equals(fixture.bytes)).toBe(true);
          await expect(pretty({ phases, facts, fault })).toMatchFileSnapshot(
            fixture.golden('facts.json'),
          );
        } else
          await expect(whole.bytes.toString()).toMatchFileSnapshot(fixture.golden(`${name}.txt`));
        if (name === 'chat' || name === 'messages') {
          const watched = play(
            native.openStream(contextFor(openai), {}),
            fixture.bytes,
            everywhere(fixture.bytes),
          );
          expect({ phases, facts, fault }).toEqual({
            phases: watched.phases,
            facts: watched.facts,
            fault: watched.fault,
          });
        }
        for (const cuts of [everywhere(fixture.bytes), insideCharacters(fixture.bytes)]) {
          const again = play(open(), fixture.bytes, cuts);
          expect(again.bytes.equals(whole.bytes)).toBe(true);
          expect(again.facts).toEqual(whole.facts);
          expect(again.fault).toEqual(whole.fault);
          expect(again.phases.at(-1)).toBe(whole.phases.at(-1));
        }
      });
  }

  for (const [format, call] of [
    ['openai-chat', viaChat],
    ['anthropic-messages', viaAnthropic],
  ] as const)
    for (const fixture of fixtures(format, 'stream'))
      it(`counts events and items of ${format} ${fixture.name} without a gap`, () => {
        const { bytes } = play(call.openStream(contextFor(openai), {}), fixture.bytes, []);
        const events = parseSseEvents(bytes);
        const bodies = events.map(({ data }) => parseObject(data)!);
        expect(bodies.map((body) => body.sequence_number)).toEqual(bodies.map((_, index) => index));
        expect(events.map(({ name }) => name)).toEqual(bodies.map((body) => body.type));
        const items = new Map<unknown, unknown>();
        for (const body of bodies) {
          const item = body.item as JsonObject | undefined;
          if (body.type === 'response.output_item.added') {
            expect(body.output_index).toBe(items.size);
            items.set(body.output_index, item?.id);
          } else if (body.output_index !== undefined)
            expect(body.item_id ?? item?.id).toBe(items.get(body.output_index));
        }
      });

  it('returns the very buffer it was given where the format is shared', () => {
    const reader = native.openStream(contextFor(openai), {});
    const chunk = Buffer.from('data: {"type":"response.output_text.delta","delta":"x"}\n\n');
    expect(reader.push(chunk)).toBe(chunk);
    expect(reader.phase).toBe('content');
  });

  it('reads the usage behind a picture of some megabytes', () => {
    const result = 'A'.repeat(3_000_000);
    const response = {
      id: 'resp_1',
      status: 'completed',
      output: [{ type: 'image_generation_call', result }],
      usage: { input_tokens: 5, output_tokens: 6 },
    };
    const event = `data: ${JSON.stringify({ type: 'response.completed', response })}\n\n`;
    const played = play(native.openStream(contextFor(openai), {}), Buffer.from(event), [70_000]);
    expect(played).toMatchObject({
      facts: { finishReason: 'completed', usage: { inputTokens: 5, outputTokens: 6 } },
    });
    expect(played.phases.at(-1)).toBe('complete');
  });

  it('tells of a fault of the gateway’s in an event of the count, which clients raise', () => {
    const fault = { type: 'upstream_error', message: 'cut', status: 502, code: 'upstream.cut' };
    const reader = viaChat.openStream(contextFor(chatOnly), { model: 'm' });
    reader.push(Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'));
    const text = reader.errorEvent(fault).toString();
    expect(text).toMatch(/^event: error\ndata: \{.*\}\n\n$/);
    expect(parseObject(parseSseEvents(Buffer.from(text))[0]!.data)).toEqual({
      type: 'error',
      sequence_number: 5,
      code: 'upstream.cut',
      message: 'cut',
      param: null,
      error: { type: 'upstream_error', code: 'upstream.cut', message: 'cut', param: null },
    });
    expect(native.openStream(contextFor(openai), {}).errorEvent(fault).toString()).toContain(
      '"type":"error","code":"upstream.cut"',
    );
  });

  it('does not call an unfinished HTML page or a JSON body a stream', () => {
    for (const text of ['<html>\n\n</html>', '{"error":{"message":"no"}}', 'data: <oops>\n\n'])
      for (const call of [native, chat, messages]) {
        const played = play(call.openStream(contextFor(openai), {}), Buffer.from(text), []);
        expect(played.phases.at(-1)).toBe('failed');
        expect(played.fault?.status).toBe(502);
      }
  });
});
