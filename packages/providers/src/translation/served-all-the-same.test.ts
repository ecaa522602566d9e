import type { Endpoint, JsonObject, JsonValue } from '@sluice/contracts';
import { refuseCohere, refuseConverse } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from './find-translation.ts';

/** What callers of one vendor send, and what another vendor is asked for it. */
function sent(id: string, model: string, body: JsonObject, endpoint: Endpoint = 'chatComplete') {
  const provider = findProvider(id)!;
  const facts = { model, stream: false, setting: () => undefined };
  const request = { model, ...body };
  const context = contextFor(provider, true, { model, request });
  const { body: encoded, dropped } = findTranslation(provider, endpoint, facts).encode(
    request,
    context,
  );
  return { body: encoded as JsonObject, dropped };
}

const claude = ['anthropic', 'claude-sonnet-4-5'] as const;
const gemini = ['google', 'gemini-2.5-flash'] as const;
const nova = ['bedrock', 'amazon.nova-pro-v1:0'] as const;
const claudeAtBedrock = ['bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0'] as const;
const cohere = ['cohere', 'command-a-03-2025'] as const;
const openai = ['openai', 'gpt-4o'] as const;
const user = { role: 'user', content: 'q' };
const asked = (content: JsonObject[]) => ({ messages: [{ role: 'user', content }] });

describe('arguments of a call that are no JSON object', () => {
  it.each(['{"a":', '[1]', 'null', '"text"'])('%s are told as they were written', (written) => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: written } };
    const messages: JsonObject[] = [
      user,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'cannot read that' },
    ];
    const input = { INVALID_JSON: written };
    for (const [id, model] of [claude, gemini, nova])
      expect(JSON.stringify(sent(id, model, { messages }).body)).toContain(JSON.stringify(input));
  });

  it('are nothing where nothing was written', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: ' ' } };
    const messages = [user, { role: 'assistant', tool_calls: [call] }];
    expect(JSON.stringify(sent(...claude, { messages }).body)).toContain('"input":{}');
  });
});

describe('a conversation of instructions alone', () => {
  const messages = [
    { role: 'system', content: 'You are a poet.' },
    { role: 'developer', content: 'Write a poem.' },
  ];

  it('ends with what the user asks', () => {
    expect(sent(...claude, { messages }).body).toMatchObject({
      system: [{ type: 'text', text: 'You are a poet.' }],
      messages: [{ role: 'user', content: 'Write a poem.' }],
    });
    expect(sent(...gemini, { messages: messages.slice(1) }).body).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'Write a poem.' }] }],
    });
    expect(sent(...nova, { messages }).body).toMatchObject({
      system: [{ text: 'You are a poet.' }],
      messages: [{ role: 'user', content: [{ text: 'Write a poem.' }] }],
    });
  });

  it('stays as it is where it is answered', () => {
    const { body } = sent(...cohere, { messages: messages.slice(0, 1) });
    expect(body.messages).toEqual(messages.slice(0, 1));
  });
});

describe('stop sequences', () => {
  const stop = ['\n\n', 'END', 'a', 'b', 'c', 'd'];
  const words = (...list: string[]) => ({ messages: [user], stop: list });

  it('of blanks alone are left out of what Claude and Bedrock are asked, and named', () => {
    for (const [id, model] of [claude, nova]) {
      const { body, dropped } = sent(id, model, words('\n\n', 'END', ''));
      expect(dropped).toEqual(['stop[0]']);
      expect(JSON.stringify(body)).toContain('["END"]');
    }
    expect(sent(...claude, { messages: [user], stop: '\n' }).body).not.toHaveProperty(
      'stop_sequences',
    );
  });

  it('beyond what is taken are left out and named', () => {
    expect(sent(...gemini, words(...stop)).dropped).toEqual(['stop[5]']);
    const { body, dropped } = sent(...cohere, words(...stop));
    expect(body.stop_sequences).toEqual(stop.slice(0, 5));
    expect(dropped).toEqual(['stop[5]']);
  });

  it('of a Messages caller are at most four for OpenAI and Azure, and all of them for others', () => {
    const request = { max_tokens: 9, messages: [user], stop_sequences: stop };
    for (const [id, count] of [
      ['openai', 4],
      ['azure-openai', 4],
      ['groq', 6],
    ] as const) {
      const { body, dropped } = sent(id, 'gpt-4o', request, 'messages');
      expect(body.stop).toEqual(stop.slice(0, count));
      expect(dropped).toEqual(count === 4 ? ['stop_sequences[4]', 'stop_sequences[5]'] : []);
    }
  });
});

describe('a number that is sent as a text', () => {
  it.each([
    ['chatComplete', { messages: [user], max_tokens: '100' }, 'max_tokens'],
    ['chatComplete', { messages: [user], temperature: '0.5' }, 'temperature'],
    ['chatComplete', { messages: [user], n: true }, 'n'],
    ['createModelResponse', { input: 'q', max_output_tokens: '100' }, 'max_output_tokens'],
  ] as [Endpoint, JsonObject, string][])(
    'is refused rather than forgotten: %s',
    (endpoint, body, name) => {
      expect(() => sent(...claude, body, endpoint)).toThrow(
        expect.objectContaining({ code: 'request.invalid_field', field: `body.${name}` }),
      );
    },
  );

  it('is refused to Messages callers, too', () => {
    const body = { max_tokens: 9, messages: [user], temperature: '1' };
    expect(() => sent(...openai, body, 'messages')).toThrow(
      expect.objectContaining({ field: 'body.temperature' }),
    );
  });

  it('may be null', () => {
    const body = { messages: [user], max_tokens: null, temperature: null, n: null };
    expect(sent(...gemini, body).body).not.toHaveProperty('generationConfig');
  });
});

describe('a number beyond what is taken', () => {
  const hot = {
    messages: [user],
    temperature: 1.5,
    top_p: 1,
    frequency_penalty: -0.5,
    presence_penalty: 1.5,
  };

  it('is the nearest that is', () => {
    const atBedrock = sent(...nova, hot);
    expect(atBedrock.body.inferenceConfig).toEqual({ temperature: 1, topP: 1 });
    expect(atBedrock.dropped).toContain('temperature');
    expect(refuseConverse(nova[1], atBedrock.body)).toBeUndefined();

    const atCohere = sent(...cohere, hot);
    expect(atCohere.body).toMatchObject({ p: 0.99, frequency_penalty: 0, presence_penalty: 1 });
    expect(refuseCohere(atCohere.body)).toBeUndefined();
    // All words are asked for, and all but a hundredth come.
    expect(atCohere.dropped).toEqual(['frequency_penalty', 'presence_penalty']);

    const { body, dropped } = sent(...claude, { messages: [user], temperature: 1.5 });
    expect([body.temperature, dropped]).toEqual([1, ['temperature']]);
  });

  it('is sent as it is where it is taken', () => {
    const warm = { messages: [user], temperature: 0.7, top_p: 0.9 };
    expect(sent(...nova, warm)).toMatchObject({
      body: { inferenceConfig: { temperature: 0.7, topP: 0.9 } },
      dropped: [],
    });
    expect(sent(...cohere, { ...warm, presence_penalty: 0.5 })).toMatchObject({
      body: { temperature: 0.7, p: 0.9, presence_penalty: 0.5 },
      dropped: [],
    });
  });
});

describe('a picture by a data URL', () => {
  const picture = (url: string) => asked([{ type: 'image_url', image_url: { url } }]);

  it('may say jpg, which only OpenAI takes', () => {
    const body = picture('data:image/jpg;base64,/9j/4AAQ');
    expect(JSON.stringify(sent(...claude, body).body)).toContain('"media_type":"image/jpeg"');
    expect(JSON.stringify(sent(...gemini, body).body)).toContain('"mimeType":"image/jpeg"');
  });

  it('has a scheme in whatever case', () => {
    const body = picture('DATA:IMAGE/PNG;BASE64,AAAA');
    expect(JSON.stringify(sent(...claude, body).body)).toContain('"media_type":"image/png"');
  });
});

it('refuses audio for Cohere, without which the question would be another', () => {
  const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
  expect(() => sent(...cohere, asked([audio, { type: 'text', text: 'q' }]))).toThrow(
    expect.objectContaining({ code: 'request.invalid_field', field: 'body.messages[0]' }),
  );
});

describe('texts that only Anthropic has parts for', () => {
  const search = {
    type: 'search_result',
    source: 'https://a.example',
    title: 'A',
    content: [{ type: 'text', text: 'found' }],
    citations: { enabled: true },
  };
  const pieces = {
    type: 'document',
    title: 'D',
    source: {
      type: 'content',
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    },
  };
  const request = (content: JsonObject[]) => ({ max_tokens: 9, ...asked(content) });

  it('are told in words to others', () => {
    for (const [id, model] of [openai, gemini, cohere]) {
      const { body, dropped } = sent(id, model, request([search, pieces]), 'messages');
      expect(JSON.stringify(body)).toContain('A\\nhttps://a.example\\nfound');
      expect(JSON.stringify(body)).toContain('D\\none\\ntwo');
      expect(dropped).toEqual(['messages[0].search_result.citations']);
    }
  });

  it('are told in words where a tool returned them', () => {
    const messages = [
      user,
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [search] }] },
    ];
    const { body } = sent(...openai, { max_tokens: 9, messages }, 'messages');
    expect((body.messages as JsonObject[])[2]).toMatchObject({
      role: 'tool',
      content: 'A\nhttps://a.example\nfound',
    });
  });

  it('keep the pictures among them, and their marks for the cache', () => {
    const cache_control = { type: 'ephemeral' };
    const source = { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' };
    const [one, two] = pieces.source.content as JsonObject[];
    const drawn = {
      ...pieces,
      source: { type: 'content', content: [one, { type: 'image', source }, two] as JsonObject[] },
      cache_control,
    };
    const asking = request([drawn, { ...search, cache_control }, { type: 'text', text: 'q' }]);
    const chat = sent('openai', 'gpt-6-sol', asking, 'messages').body.messages as JsonObject[];
    const point = { prompt_cache_breakpoint: { mode: 'explicit' } };
    expect(chat[0]?.content).toEqual([
      { type: 'text', text: 'D\none' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
      { type: 'text', text: 'two', ...point },
      { type: 'text', text: 'A\nhttps://a.example\nfound', ...point },
      { type: 'text', text: 'q' },
    ]);
    const kinds = (turns: JsonValue | undefined, parts: string) =>
      ((turns as JsonObject[])[0]?.[parts] as JsonObject[] | undefined)?.map(
        (part) => Object.keys(part)[0],
      );
    expect(kinds(sent(...nova, asking, 'messages').body.messages, 'content')).toEqual([
      ...['text', 'image', 'text', 'cachePoint', 'text', 'cachePoint', 'text'],
    ]);
    expect(kinds(sent(...gemini, asking, 'messages').body.contents, 'parts')).toEqual([
      ...['text', 'inlineData', 'text', 'text', 'text'],
    ]);
    const call = { type: 'tool_use', id: 't', name: 'f', input: {} };
    const result = { type: 'tool_result', tool_use_id: 't', content: [drawn] };
    const messages = [
      user,
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ];
    const told = sent(...claudeAtBedrock, { max_tokens: 9, messages }, 'messages');
    expect(told.dropped).toEqual([]);
  });

  it('are left out and named where they hold no text', () => {
    const drawn = { ...pieces, source: { type: 'content', content: [{ type: 'image' }] } };
    const { dropped } = sent(...openai, request([drawn, { type: 'text', text: 'q' }]), 'messages');
    expect(dropped).toEqual(['messages[0].document']);
  });
});
