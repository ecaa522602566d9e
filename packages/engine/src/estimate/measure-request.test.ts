import type { JsonObject, JsonValue } from '@sluice/contracts';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { measureRequest } from './measure-request.ts';
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
  }, 60_000);

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
    const before = process.threadCpuUsage();
    const { textTokens } = measureRequest({ prompt: content }, content.length, 'openai');
    expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(20);
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

  it('knows what is named and not sent', () => {
    const open = (json: JsonObject) => measureRequest(json, 100, 'openai').isOpen;
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
  });

  it('does not count what no model reads', () => {
    const json = { metadata: { note: 'x'.repeat(4000) }, user: 'y'.repeat(4000) };
    expect(measureRequest(json, 8100, 'openai').textTokens).toBe(0);
  });
});

/** A PNG that is no more than its first bytes. */
function picture(width: number, height: number): JsonObject {
  const head = Buffer.alloc(40);
  head.writeUInt32BE(0x89504e47, 0);
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return { type: 'image_url', image_url: `data:image/png;base64,${head.toString('base64')}` };
}
