import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import type { UpstreamReply } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asked, type Lab, startLab } from './lab.ts';
import { chatReply } from './scenario.ts';
import { anthropicReplyBody, openAiEvents } from './vendor-replies.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.stop());

const codings: [string, (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  // By a server, and again by what stands before it.
  ['br, gzip', (bytes) => gzipSync(brotliCompressSync(bytes))],
  // No coding at all, as some servers write where they mean the charset.
  ['utf-8', (bytes) => bytes],
];

const said = 'Optimistic locking checks at the end. '.repeat(40);
const words = said.split(/(?<= )/);
const ofWords = openAiEvents(...words);
const uncounted = ofWords.filter((event) => !event.includes('"usage"'));
const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Why lock at all?' }] };
const streamed = { ...body, stream: true };

function packed(type: string, coding: string, bytes: Buffer): UpstreamReply {
  return {
    async send(response) {
      response.writeHead(200, { 'content-type': type, 'content-encoding': coding });
      response.end(bytes);
    },
  };
}

/** One attempt at one upstream. */
async function ask(
  reply: UpstreamReply,
  call: object = { body },
  target: object = {},
): Promise<Asked> {
  const trial = lab.trial();
  try {
    const upstream = await trial.upstream('vendor', reply);
    return await trial.ask({ config: upstream.target(target), records: 1, ...call });
  } finally {
    await trial.close();
  }
}

describe('an answer that came compressed, unasked', () => {
  it.each(codings)(
    'in %s is billed by what it reports, and passes as it came',
    async (name, pack) => {
      const text = JSON.stringify(chatReply);
      const asked = await ask(packed('application/json', name, pack(Buffer.from(text))));
      expect(asked.records[0]).toMatchObject({
        outcome: 'SUCCESS',
        tokens: [1000, 500],
        costNanoUsd: 450_000,
      });
      expect(asked.answer.headers.get('content-encoding')).toBe(name);
      expect(asked.answer.text).toBe(text);
      expect(asked.answer.own('cost')).toBe('0.045');
    },
  );

  it.each(codings)(
    'in %s is read on its way: a stream, and what passes through',
    async (name, pack) => {
      const events = ofWords.join('');
      const stream = await ask(packed('text/event-stream', name, pack(Buffer.from(events))), {
        body: streamed,
      });
      expect(stream.records[0]).toMatchObject({ outcome: 'SUCCESS', tokens: [1000, 500] });
      expect(stream.answer.text).toBe(events);
      const text = JSON.stringify(anthropicReplyBody);
      const passing = await ask(
        packed('application/json', name, pack(Buffer.from(text))),
        { path: '/v1/proxy/messages', body: { ...body, max_tokens: 9 } },
        { provider: 'anthropic' },
      );
      expect(passing.records[0]).toMatchObject({ tokens: [1000, 500], costNanoUsd: 10_500_000 });
      expect(passing.answer.text).toBe(text);
    },
  );

  it('is billed by what was said where it reports nothing', async () => {
    const { usage: _, ...rest } = chatReply;
    const message = { role: 'assistant', content: said };
    const silent = { ...rest, choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const events = Buffer.from(uncounted.join(''));
    for (const [reply, asked] of [
      [packed('application/json', 'gzip', gzipSync(JSON.stringify(silent))), body],
      [packed('text/event-stream', 'gzip', gzipSync(events)), streamed],
    ] as const) {
      const { rawRecords, records } = await ask(reply, { body: asked });
      expect(records[0]).toMatchObject({ outcome: 'SUCCESS', tokens: null });
      expect(rawRecords[0]?.usageEstimated).toBe(true);
      expect(Number(rawRecords[0]?.outputTokens)).toBeGreaterThan(170);
      expect(Number(rawRecords[0]?.outputTokens)).toBeLessThan(480);
    }
  });

  it('is heard event by event: of one that is cut what was said is charged', async () => {
    const asked = await ask(
      {
        async send(response) {
          const type = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' };
          response.writeHead(200, type);
          const packing = createGzip({ flush: constants.Z_SYNC_FLUSH });
          packing.pipe(response);
          for (const event of uncounted.slice(0, 100)) packing.write(event);
          await new Promise<void>((resolve) => packing.flush(resolve));
          await new Promise((resolve) => setTimeout(resolve, 50));
          // After all that was written, and without an end of the body.
          response.socket?.end();
        },
      },
      { body: streamed },
    );
    expect(asked.records[0]).toMatchObject({ outcome: 'PARTIAL', tokens: null });
    expect(Number(asked.rawRecords[0]?.outputTokens)).toBeGreaterThan(60);
  });

  const spaces = ' '.repeat(80 * 1024 * 1024);
  it.each([
    ['cannot be opened', () => Buffer.from('no gzip')],
    ['is cut', (answer: string) => gzipSync(answer).subarray(0, 40)],
    ['is far larger when it is open', (answer: string) => gzipSync(answer)],
  ])('and that %s passes, billed by its prompt', async (what, pack) => {
    const isLarge = what.startsWith('is far');
    const pad = isLarge ? spaces : '';
    for (const [type, answer, asked] of [
      ['application/json', pad + JSON.stringify(chatReply), body],
      ['text/event-stream', `: ${pad}\n\n${ofWords.join('')}`, streamed],
    ] as const) {
      const { rawRecords } = await ask(packed(type, 'gzip', pack(answer)), { body: asked });
      expect(rawRecords[0]?.usageEstimated).toBe(true);
      expect(Number(rawRecords[0]?.inputTokens)).toBeGreaterThan(0);
      expect(rawRecords[0]?.outputTokens).toBe(0n);
    }
  });
});
