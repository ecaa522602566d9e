import { readFileSync } from 'node:fs';
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { ownTime } from '@sluice/testkit/own-time';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { measureRequest } from './measure-request.ts';
import type { MediaRule } from './media-tokens.ts';
import { codeLines, sentences } from './sample-texts.ts';

/** The same sequence in every run (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = numbersFrom(7);
const below = (max: number) => Math.floor(random() * max);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;

const tokensIn = (text: string) => encode(text, { disallowedSpecial: new Set() }).length;

function proseIn(language: readonly string[]): string {
  return Array.from({ length: 1 + below(12) }, () => pick(language)).join(
    pick([' ', '\n', '\n\n']),
  );
}

function code(): string {
  return Array.from({ length: 2 + below(30) }, () => pick(codeLines)).join('\n');
}

/** A request, and the texts of it that a model reads. */
interface Sample {
  json: JsonObject;
  texts: string[];
}

const languages = Object.values(sentences);

function someText(): string {
  const kind = random();
  if (kind < 0.6) return proseIn(pick(languages));
  if (kind < 0.8) return code();
  if (kind < 0.9) return JSON.stringify({ rows: Array.from({ length: below(20) }, row) });
  return `${proseIn(pick(languages))}\n\n\`\`\`ts\n${code()}\n\`\`\``;
}

function row(): JsonObject {
  return { id: below(1e9), name: pick(pick(languages)).slice(0, 20), price: random() * 100 };
}

function chat(): Sample {
  const texts = Array.from({ length: 1 + below(6) }, someText);
  const messages = texts.map((content, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: random() < 0.5 ? content : [{ type: 'text', text: content }],
  }));
  return { json: { model: 'gpt-4o', messages }, texts };
}

function withTools(): Sample {
  const { json, texts } = chat();
  const tools = Array.from({ length: 1 + below(5) }, (_, index) => ({
    type: 'function',
    function: {
      name: `find_${pick(['order', 'customer', 'invoice', 'flight'])}_${index}`,
      description: pick(sentences.english),
      parameters: {
        type: 'object',
        properties: {
          id: { type: 'string', description: pick(sentences.english) },
          limit: { type: 'integer', minimum: 1 },
        },
        required: ['id'],
      },
    },
  }));
  // As a model is told of them: without JSON's quotes.
  const told = tools.map((tool) => JSON.stringify(tool.function).replaceAll(/["{}]/g, ' '));
  return { json: { ...json, tools }, texts: [...texts, ...told] };
}

function responses(): Sample {
  const texts = Array.from({ length: 1 + below(3) }, someText);
  const instructions = pick(texts);
  const json = { model: 'gpt-5', input: texts.join('\n'), instructions };
  return { json, texts: [...texts, instructions] };
}

describe('measureRequest', () => {
  it('is below what a tokenizer counts in one of a hundred bodies at most, and seldom far above', () => {
    const ratios: number[] = [];
    for (let index = 0; index < 5000; index++) {
      const { json, texts } = pick([chat, chat, withTools, responses])();
      const bytes = Buffer.byteLength(JSON.stringify(json));
      const turns = Array.isArray(json.messages) ? json.messages.length : 1;
      // Four tokens stand around each turn, three begin the answer.
      const counted = texts.reduce((sum, text) => sum + tokensIn(text), 3 + 4 * turns);
      const { textTokens } = measureRequest(json, bytes, 'openai');
      expect(textTokens).toBeLessThanOrEqual(bytes);
      ratios.push(textTokens / counted);
    }
    ratios.sort((a, b) => a - b);
    expect(ratios.filter((ratio) => ratio < 1).length / ratios.length).toBeLessThanOrEqual(0.01);
    expect(ratios[ratios.length / 2]).toBeLessThanOrEqual(1.3);
  });

  it('counts what lies behind the last value that it looks at by its bytes', () => {
    const content = pick(sentences.english);
    const messages = Array.from({ length: 20_001 }, () => ({ role: 'user', content }));
    const json = { messages };
    const { textTokens } = measureRequest(json, Buffer.byteLength(JSON.stringify(json)), 'openai');
    const counted = 20_001 * (tokensIn(content) + 4);
    expect(textTokens).toBeGreaterThan(counted);
    expect(textTokens).toBeLessThan(counted * 1.5);
  });

  it('reads pieces of a long text, and counts all of it', () => {
    const content = Array.from({ length: 20_000 }, () => pick(sentences.english)).join(' ');
    const spentMs = ownTime();
    const { textTokens } = measureRequest({ prompt: content }, content.length, 'openai');
    expect(spentMs()).toBeLessThan(20);
    const counted = tokensIn(content.slice(0, 100_000)) * (content.length / 100_000);
    expect(textTokens / counted).toBeGreaterThan(1);
    expect(textTokens / counted).toBeLessThan(1.4);
  });

  it.each<[string, JsonValue, number]>([
    ['a small picture', picture(512, 512), 85 + 170],
    ['a large picture', picture(4096, 2048), 85 + 170 * 6],
    ['one of low detail', { ...picture(4096, 2048), detail: 'low' }, 85],
    [
      'one behind an address',
      { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
      85 + 170 * 8,
    ],
  ])('counts %s as the vendor does', (_name, part, expected) => {
    const json = { messages: [{ role: 'user', content: [part] }] } as JsonObject;
    expect(measureRequest(json, 1000, 'openai').mediaTokens).toBe(expected);
  });

  it.each<[string, JsonValue, Record<MediaRule, number>]>([
    ['a GIF', dataUrl('image/gif', gif(512, 512)), { openai: 255, anthropic: 350, gemini: 1032 }],
    ['a JPEG', dataUrl('image/jpeg', jpeg(300, 200)), { openai: 255, anthropic: 80, gemini: 258 }],
    [
      'a WebP',
      dataUrl('image/webp', webp('VP8 ', 768, 512)),
      { openai: 425, anthropic: 525, gemini: 1548 },
    ],
    [
      'one without loss',
      dataUrl('image/webp', webp('VP8L', 1024, 768)),
      { openai: 765, anthropic: 1049, gemini: 1032 },
    ],
    [
      'one with more in it',
      dataUrl('image/webp', webp('VP8X', 1024, 768)),
      { openai: 765, anthropic: 1049, gemini: 1032 },
    ],
    [
      'one as Converse has it',
      { image: { format: 'gif', source: { bytes: gif(512, 512).toString('base64') } } },
      { openai: 255, anthropic: 350, gemini: 1032 },
    ],
    [
      'a document as Converse has it',
      { document: { name: 'a', format: 'docx', source: { bytes: 'A'.repeat(8000) } } },
      { openai: 6000, anthropic: 6000, gemini: 516 },
    ],
    [
      'one as Claude has it',
      {
        type: 'image',
        source: {
          type: 'base64',
          media_type: 'image/gif',
          data: gif(512, 512).toString('base64'),
        },
      },
      { openai: 255, anthropic: 350, gemini: 1032 },
    ],
    [
      'one as Gemini has it',
      { inlineData: { mimeType: 'image/gif', data: gif(512, 512).toString('base64') } },
      { openai: 255, anthropic: 350, gemini: 1032 },
    ],
    [
      'sound as Gemini has it',
      { inline_data: { mime_type: 'audio/mp3', data: Buffer.alloc(39_999).toString('base64') } },
      { openai: 101, anthropic: 101, gemini: 321 },
    ],
    [
      'a file of two pages',
      {
        type: 'file',
        file: { file_data: `data:application/pdf;base64,${Buffer.alloc(6000).toString('base64')}` },
      },
      { openai: 6000, anthropic: 6000, gemini: 516 },
    ],
    [
      'a picture by its id',
      { type: 'input_image', file_id: 'file-1' },
      { openai: 1445, anthropic: 4784, gemini: 4128 },
    ],
    ['ten seconds of sound', sound('wav', 319_998), { openai: 101, anthropic: 101, gemini: 321 }],
    [
      'ten seconds of packed sound',
      sound('mp3', 39_999),
      { openai: 101, anthropic: 101, gemini: 321 },
    ],
    [
      'sound of three seconds, by its header',
      { type: 'input_audio', input_audio: { data: fixture('sound.mp3'), format: 'mp3' } },
      { openai: 32, anthropic: 32, gemini: 101 },
    ],
    [
      'video of three seconds as Gemini has it',
      { inlineData: { mimeType: 'video/mp4', data: fixture('movie.mp4') } },
      { openai: 805, anthropic: 805, gemini: 871 },
    ],
    [
      'video of which four pictures a second are looked at',
      {
        inline_data: { mime_type: 'video/mp4', data: fixture('movie.mp4') },
        video_metadata: { fps: 4 },
      },
      { openai: 3127, anthropic: 3127, gemini: 3193 },
    ],
    [
      'video as hosts of the chat format have it',
      {
        type: 'video_url',
        video_url: { url: `data:video/webm;base64,${fixture('movie.webm')}` },
      },
      { openai: 805, anthropic: 805, gemini: 871 },
    ],
    [
      'video as Converse has it',
      { video: { format: 'mp4', source: { bytes: fixture('movie.mp4') } } },
      { openai: 805, anthropic: 805, gemini: 871 },
    ],
    [
      'a minute of video whose header does not say how long it is',
      { inlineData: { mimeType: 'video/mp4', data: 'A'.repeat(1_280_000) } },
      { openai: 16_081, anthropic: 16_081, gemini: 17_401 },
    ],
    [
      'video whose header hides how long it is',
      {
        inlineData: {
          mimeType: 'video/mp4',
          data: `${fixture('movie-first.mp4')}${'A'.repeat(12_000_000)}`,
        },
      },
      { openai: 967, anthropic: 967, gemini: 1046 },
    ],
    [
      'video behind an address',
      { fileData: { mimeType: 'video/mp4', fileUri: 'https://a.example/a.mp4' } },
      { openai: 160_801, anthropic: 160_801, gemini: 174_001 },
    ],
    [
      'video in a bucket, as Converse names it',
      { video: { format: 'mp4', source: { s3Location: { uri: 's3://a/a.mp4' } } } },
      { openai: 160_801, anthropic: 160_801, gemini: 174_001 },
    ],
    [
      'a document behind an address',
      { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } },
      { openai: 300_000, anthropic: 300_000, gemini: 25_800 },
    ],
  ])(
    'counts %s by what its first bytes, its format and its length say',
    (_name, part, expected) => {
      const json = { messages: [{ role: 'user', content: [part] }] } as JsonObject;
      const counted = (rule: MediaRule) => measureRequest(json, 1_000_000, rule);
      for (const [rule, tokens] of Object.entries(expected) as [MediaRule, number][])
        expect([rule, counted(rule).mediaTokens]).toEqual([rule, tokens]);
      expect(counted('openai').textTokens).toBeLessThan(50);
    },
  );

  it.each<[string, (text: string) => JsonObject]>([
    ['a message', (content) => ({ messages: [{ role: 'user', content }] })],
    ['a part of one', (text) => ({ messages: [{ content: [{ type: 'text', text }] }] })],
    ['what a tool answered', (output) => ({ input: [{ type: 'function_call_output', output }] })],
    [
      'an argument of a tool',
      (page) => ({ messages: [{ content: [{ type: 'tool_use', input: { page } }] }] }),
    ],
    ['a question', (input) => ({ input })],
    [
      'a document of plain text',
      (data) => ({
        messages: [
          {
            content: [
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data } },
            ],
          },
        ],
      }),
    ],
    [
      'tools of Converse',
      (description) => ({ toolConfig: { tools: [{ toolSpec: { description } }] } }),
    ],
    ['a text of Cohere', (text) => ({ texts: [text] })],
    ['a text of Titan', (inputText) => ({ inputText })],
    ['a text that Gemini embeds', (text) => ({ requests: [{ content: { parts: [{ text }] } }] })],
  ])('counts %s as text, also one that begins as data do', (_name, ask) => {
    const text = `${sentences.english.join(' ')} `.repeat(50);
    for (const begins of ['', 'data: ', 'data:text/plain,', 'data:image/png;base64,']) {
      const json = ask(begins + text);
      const size = measureRequest(json, JSON.stringify(json).length, 'openai', true);
      expect([begins, size.mediaTokens]).toEqual([begins, 0]);
      expect(size.textTokens).toBeGreaterThanOrEqual(tokensIn(text));
    }
  });

  it.each<[string, JsonObject, string | undefined]>([
    ['nothing', { messages: [{ content: 'a' }] }, undefined],
    ['the whole', { cache_control: { type: 'ephemeral' }, messages: [] }, '5m'],
    ['a part', { system: [{ text: 'a', cache_control: { type: 'ephemeral' } }] }, '5m'],
    [
      'a point of Converse',
      { messages: [{ content: [{ text: 'a' }, { cachePoint: { type: 'default' } }] }] },
      '5m',
    ],
    [
      'an hour, then five minutes',
      { system: [{ cache_control: { ttl: '1h' } }, { cache_control: {} }] },
      '1h',
    ],
    [
      'five minutes, then an hour',
      { system: [{ cache_control: {} }, { cache_control: { ttl: '1h' } }] },
      '1h',
    ],
  ])('tells for how long what goes in is kept, where %s is marked', (_name, json, expected) => {
    expect(measureRequest(json, 100, 'anthropic').writesCache).toBe(expected);
  });

  it('knows what is named and not sent', () => {
    const open = (json: JsonObject) => measureRequest(json, 100, 'openai').isOpen;
    const called = { type: 'function', function: { name: 'a' } };
    expect(open({ tools: [called] })).toBe(false);
    expect(open({ tools: [called, { type: 'web_search' }] })).toBe(true);
    expect(open({ messages: [{ role: 'user', content: 'hello' }] })).toBe(false);
    expect(open({ input: 'and?', previous_response_id: 'resp_1' })).toBe(true);
    expect(open({ messages: [{ content: [{ type: 'file', file: { file_id: 'file-1' } }] }] })).toBe(
      true,
    );
  });

  it('reads the limit of an answer and how many are asked for, in every format', () => {
    const size = (json: JsonObject) => {
      const { outputMax, answers } = measureRequest(json, 100, 'openai');
      return [outputMax, answers];
    };
    expect(size({ max_tokens: 7, max_completion_tokens: 9, n: 3 })).toEqual([9, 3]);
    expect(size({ generationConfig: { maxOutputTokens: 5, candidateCount: 2 } })).toEqual([5, 2]);
    expect(size({ inferenceConfig: { maxTokens: 4 } })).toEqual([4, 1]);
    expect(size({ max_tokens: -1, n: 1e9 })).toEqual([undefined, 128]);
    expect(size({ max_tokens: '7' })).toEqual([undefined, 1]);
    expect(size({ max_completion_tokens: 0, max_tokens: 6.2, n: 1.5 })).toEqual([7, 2]);
    expect(size({ prompt: ['a', 'b', 'c'], n: 2, best_of: 4 })).toEqual([undefined, 12]);
    expect(size({ prompt: [[1, 2], [3]] })).toEqual([undefined, 2]);
    expect(size({ prompt: [1, 2, 3] })).toEqual([undefined, 1]);
    expect(measureRequest({ prompt: [1, 2, 3, 4] }, 100, 'openai').textTokens).toBe(4 + 8);
  });

  it.each<[string, JsonObject]>([
    ['what else is asked than a model', { inputText: 'a', texts: ['a'], message: 'a' }],
    ['a message that is kept', { role: 'user', content: 'What is locking?' }],
    ['a batch', { requests: [{ custom_id: 'a', params: { messages: [{ content: 'a' }] } }] }],
  ])('does not take %s for a question', (_name, json) => {
    expect(measureRequest(json, 1000, 'openai').textTokens).toBe(0);
    if (!('inputText' in json))
      expect(measureRequest(json, 1000, 'openai', true).textTokens).toBe(0);
  });

  it('does not count what no model reads', () => {
    const json = { metadata: { note: 'x'.repeat(4000) }, user: 'y'.repeat(4000) };
    expect(measureRequest(json, 8100, 'openai').textTokens).toBe(0);
  });
});

/** Base64 of a small file, made with ffmpeg. */
function fixture(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'base64');
}

/** A PNG that is no more than its first bytes. */
function picture(width: number, height: number): JsonObject {
  const head = Buffer.alloc(40);
  head.writeUInt32BE(0x89504e47, 0);
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return { type: 'image_url', image_url: `data:image/png;base64,${head.toString('base64')}` };
}

function dataUrl(type: string, bytes: Buffer): JsonObject {
  return { image: `data:${type};base64,${bytes.toString('base64')}` };
}

function sound(format: string, bytes: number): JsonObject {
  const data = Buffer.alloc(bytes).toString('base64');
  return { type: 'input_audio', input_audio: { data, format } };
}

/** The rest are, too. */
function gif(width: number, height: number): Buffer {
  const head = Buffer.alloc(40);
  head.write('GIF89a', 0, 'latin1');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  return head;
}

/** With a comment before the frame. */
function jpeg(width: number, height: number): Buffer {
  const head = Buffer.alloc(60);
  Buffer.from([0xff, 0xd8, 0xff, 0xfe, 0, 12]).copy(head);
  Buffer.from([0xff, 0xc2, 0, 17, 8]).copy(head, 16);
  head.writeUInt16BE(height, 21);
  head.writeUInt16BE(width, 23);
  return head;
}

function webp(kind: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Buffer {
  const head = Buffer.alloc(40);
  head.write(`RIFF    WEBP${kind}`, 0, 'latin1');
  if (kind === 'VP8 ') {
    head.writeUInt16LE(width, 26);
    head.writeUInt16LE(height, 28);
  } else if (kind === 'VP8L') head.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  else {
    head.writeUIntLE(width - 1, 24, 3);
    head.writeUIntLE(height - 1, 27, 3);
  }
  return head;
}
