import type { JsonObject } from '@sluice/providers';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  exampleCacheRequest,
  exampleChatReply,
  exampleSemanticAsk,
  manualStream,
  RecordingSink,
} from '../../../test/cache-request.ts';
import { MemoryCache } from '../memory.ts';
import {
  type CacheLookup,
  type CacheRequest,
  ReplyCache,
  type SemanticAsk,
} from '../reply-cache.ts';
import { MemoryVectors } from './memory-vectors.ts';
import type { Partition } from './vector-index.ts';

/** Questions lie on a circle: their angle in degrees is the number in them. */
const askedTexts: string[] = [];
const embed: SemanticAsk['embed'] = async (text) => {
  askedTexts.push(text);
  const degrees = /-?\d+/.exec(text)?.[0];
  if (degrees === undefined) return undefined;
  const angle = (Number(degrees) * Math.PI) / 180;
  return Float32Array.of(Math.cos(angle), Math.sin(angle));
};

let nowMs = 0;
let store: MemoryCache;
let vectors: MemoryVectors;
let cache: ReplyCache;
beforeEach(() => {
  nowMs = 1_700_000_000_000;
  askedTexts.length = 0;
  const now = () => nowMs;
  store = new MemoryCache({ bytesMax: 1_000_000, now });
  vectors = new MemoryVectors({ dimensions: 2, bytesMax: 1_000_000, now });
  cache = new ReplyCache({ store, vectors, objectBytesMax: 5000, flightWaitMs: 1000, now });
});

const bodyOf = (content: string): JsonObject => ({
  model: 'm',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content },
  ],
});

interface Over extends Partial<CacheRequest> {
  ask?: Partial<SemanticAsk>;
}

async function ask(content: string, { ask: over, ...request }: Over = {}): Promise<CacheLookup> {
  const askedJson = bodyOf(content);
  const semantic = exampleSemanticAsk({ askedJson, embed, ...over });
  return cache.lookUp(exampleCacheRequest({ sentJson: askedJson, semantic, ...request }));
}

const answerSaying = (content: string) =>
  Buffer.from(
    JSON.stringify({
      ...exampleChatReply,
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    }),
  );

/** Asks, and answers what is not kept yet with the question itself. */
async function askAndKeep(content: string, over?: Over): Promise<CacheLookup> {
  const looking = await ask(content, over);
  looking.fill?.keepBody(answerSaying(content), 'application/json');
  return looking;
}

const saidIn = ({ kept }: CacheLookup): string | undefined =>
  kept && JSON.parse(kept.body.toString()).choices[0].message.content;

describe('the semantic cache', () => {
  it('answers a question in other words, and says how near it is', async () => {
    expect(await askAndKeep('at 0')).toMatchObject({ status: 'SEMANTIC MISS' });
    const found = await ask('at 10');
    expect(found.status).toBe('SEMANTIC HIT');
    expect(found.similarity).toBeCloseTo(Math.cos(Math.PI / 18), 5);
    expect(saidIn(found)).toBe('at 0');
    expect(found.fill).toBeUndefined();
  });

  it('does not answer one that is further away than its rule allows', async () => {
    await askAndKeep('at 0');
    expect((await ask('at 19')).status).toBe('SEMANTIC MISS');
    expect((await ask('at 19', { ask: { threshold: 0.9 } })).status).toBe('SEMANTIC HIT');
    expect((await ask('at 10', { ask: { threshold: 0.99 } })).status).toBe('SEMANTIC MISS');
  });

  it('asks for no vector where the very words are kept', async () => {
    await askAndKeep('at 0');
    expect((await ask('at 0')).status).toBe('HIT');
    expect(askedTexts).toEqual(['at 0']);
  });

  it('goes on as a miss without a vector, and keeps the answer for the very words', async () => {
    expect((await askAndKeep('no number')).status).toBe('SEMANTIC MISS');
    expect((await ask('no number')).status).toBe('HIT');
    expect(vectors.size).toBe(0);
  });

  it('is the simple cache for a request that has no one question', async () => {
    const prompts: Over = { endpoint: 'embed' };
    expect((await askAndKeep('at 0', prompts)).status).toBe('MISS');
    expect((await ask('at 0', prompts)).status).toBe('HIT');
    expect(askedTexts).toEqual([]);
  });

  it('tells a kept answer as a stream to who wants one', async () => {
    await askAndKeep('at 0');
    const found = await ask('at 5', { wantsStream: true });
    if (found.reply?.kind !== 'stream') throw new Error('it is no stream');
    const sink = new RecordingSink();
    found.reply.pipeTo(sink);
    expect([found.status, sink.ending]).toEqual(['SEMANTIC HIT', 'end']);
    expect(sink.text).toContain('"content":"at 0"');
    expect(sink.text).toMatch(/data: \[DONE\]\n\n$/);
  });

  it('keeps a stream for questions in other words when it has come to its end', async () => {
    const { fill } = await ask('at 0', { wantsStream: true });
    const upstream = manualStream();
    fill?.keepStream(upstream.reply, () => true).pipeTo(new RecordingSink());
    upstream
      .sink()
      .write(Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'));
    expect((await ask('at 5', { wantsStream: true })).status).toBe('SEMANTIC MISS');
    upstream.sink().end();
    expect((await ask('at 6', { wantsStream: true })).status).toBe('SEMANTIC HIT');
  });

  it('in shadow tells what it would have given, and gives nothing', async () => {
    const shadow: Over = { ask: { isShadow: true } };
    await askAndKeep('at 0', shadow);
    const told = await askAndKeep('at 10', shadow);
    expect([told.status, told.reply]).toEqual(['SEMANTIC MISS', undefined]);
    expect(told.similarity).toBeCloseTo(0.985, 3);
    expect((await ask('at 10', shadow)).status).toBe('HIT');
    expect((await ask('at 90', shadow)).similarity).toBeUndefined();
  });

  it('forced to refresh, replaces the answers of all questions that are near', async () => {
    await askAndKeep('at 0');
    await askAndKeep('at 40');
    await askAndKeep('at 20', { ask: { threshold: 1 } });
    const fresh = await askAndKeep('at 10', { forceRefresh: true });
    expect([fresh.status, vectors.size]).toEqual(['REFRESH', 2]);
    expect(saidIn(await ask('at 0'))).toBe('at 10');
    expect(saidIn(await ask('at 20'))).toBe('at 10');
    expect(saidIn(await ask('at 40'))).toBe('at 40');
  });

  it('forced to refresh in vain, leaves what is kept', async () => {
    await askAndKeep('at 0');
    const { fill } = await ask('at 5', { forceRefresh: true });
    fill?.release();
    expect(saidIn(await ask('at 5'))).toBe('at 0');
  });

  it('gives an answer no longer than its rule allows', async () => {
    const minute: Over = { rule: { maxAgeS: 60, semantic: undefined } };
    await askAndKeep('at 0');
    nowMs += 60_000;
    expect((await ask('at 5', minute)).status).toBe('SEMANTIC MISS');
    expect((await ask('at 5')).status).toBe('SEMANTIC HIT');
  });

  it('forgets a question whose answer had to make room', async () => {
    await askAndKeep('at 0');
    store = new MemoryCache({ bytesMax: 1_000_000 });
    cache = new ReplyCache({ store, vectors, objectBytesMax: 5000, flightWaitMs: 1000 });
    expect((await ask('at 5')).status).toBe('SEMANTIC MISS');
    expect(vectors.size).toBe(0);
  });

  it('reads what a poisoned index names of another partition as nothing', async () => {
    await askAndKeep('at 0', { workspaceId: 'ws-2' });
    const near = vectors.near.bind(vectors);
    let theirs: Partition | undefined;
    vectors.near = (partition, vector, wanted) => {
      theirs ??= partition;
      return near(theirs, vector, wanted);
    };
    expect((await ask('at 5', { workspaceId: 'ws-2' })).status).toBe('SEMANTIC HIT');
    const mine = await ask('at 5');
    expect([mine.status, mine.reply]).toEqual(['SEMANTIC MISS', undefined]);
  });

  it('gives those who wait for the same words what was found for the first', async () => {
    await askAndKeep('at 0');
    const slow: Over = {
      ask: { embed: (text) => new Promise((done) => setTimeout(() => done(embed(text)), 20)) },
    };
    const found = await Promise.all([ask('at 5', slow), ask('at 5', slow), ask('at 5', slow)]);
    expect(found.map(({ status }) => status)).toEqual(Array(3).fill('SEMANTIC HIT'));
    expect(askedTexts).toEqual(['at 0', 'at 5']);
    expect(cache.flightCount).toBe(0);
  });

  it('gives nobody who waits what is not near enough for them', async () => {
    await askAndKeep('at 0');
    const asking = (over: Partial<SemanticAsk>) => ask('at 15', { ask: over });
    const found = await Promise.all([
      asking({ threshold: 0.9 }),
      asking({ threshold: 0.99 }),
      asking({ threshold: 0.9, isShadow: true }),
    ]);
    expect(found.map(({ status }) => status)).toEqual([
      'SEMANTIC HIT',
      'SEMANTIC MISS',
      'SEMANTIC MISS',
    ]);
  });

  it('lets the next one ask when a caller leaves while a vector is made', async () => {
    const gone = new AbortController();
    const first = ask('at 0', {
      signal: gone.signal,
      ask: {
        embed: async () => {
          gone.abort();
          return undefined;
        },
      },
    });
    const next = ask('at 0');
    await expect(first).rejects.toMatchObject({ code: 'request.aborted' });
    expect((await next).status).toBe('SEMANTIC MISS');
  });
});
