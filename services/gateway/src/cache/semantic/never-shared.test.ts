import type { JsonObject, JsonValue } from '@sluice/providers';
import { createLogger } from '@sluice/telemetry';
import {
  eventually,
  type SpawnedServer,
  startRedis,
  startVectorRedis,
  type VectorRedis,
} from '@sluice/testkit';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  exampleCacheRequest,
  exampleChatReply,
  exampleSemanticAsk,
} from '../../../test/cache-request.ts';
import { SharedStore } from '../../redis/shared-store.ts';
import { MemoryCache } from '../memory.ts';
import { RedisCache } from '../redis.ts';
import { type CacheRequest, ReplyCache } from '../reply-cache.ts';
import type { CacheStore } from '../store.ts';
import { MemoryVectors } from './memory-vectors.ts';
import { RedisVectors } from './redis-vectors.ts';

/** Whoever asks, how, and in which words; all questions are alike to the embedding. */
interface Asked {
  over: Partial<CacheRequest>;
  body: JsonObject;
  words: string;
  isSemantic: boolean;
}

const text = fc.string({ minLength: 1, maxLength: 12 });
const tool = text.map((name) => ({ type: 'function', function: { name } }));
const base: fc.Arbitrary<Asked> = fc.record({
  over: fc.record({
    metadata: fc.dictionary(text, text, { maxKeys: 2, noNullPrototype: true }),
    upstreamHeaders: fc.record({ 'x-version': text }),
    namespace: fc.option(text, { nil: undefined }),
    checkedBy: text,
  }),
  body: fc.record({
    model: text,
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    tools: fc.array(tool, { maxLength: 2 }),
    messages: fc.record({ system: text, before: text }).map(({ system, before }) => [
      { role: 'system', content: system },
      { role: 'user', content: before },
      { role: 'assistant', content: 'Yes.' },
    ]),
  }),
  words: text.map((words) => `w${words}`),
  isSemantic: fc.boolean(),
});

const withOver = (over: Partial<CacheRequest>) => (asked: Asked) => ({
  ...asked,
  over: { ...asked.over, ...over },
});
const withBody = (over: JsonObject) => (asked: Asked) => ({
  ...asked,
  body: { ...asked.body, ...over },
});
const withMessage = (at: number, change: JsonObject) => (asked: Asked) => {
  const messages = asked.body.messages as JsonObject[];
  return withBody({ messages: messages.with(at, { ...messages[at], ...change }) })(asked);
};

/** What may differ between two requests that must not have one answer. Nothing generated contains a ☃. */
const differences: Record<string, (asked: Asked) => Asked> = {
  'another organisation': withOver({ organisationId: 'org ☃' }),
  'another workspace': withOver({ workspaceId: 'ws ☃' }),
  'a key with other metadata': withOver({ metadata: { '☃': 'key' } }),
  'a key that answers by another account': withOver({ credential: '@☃' }),
  'a caller’s own key': withOver({ credential: '["sk-☃"]' }),
  'another provider': withOver({ provider: 'anthropic' }),
  'another host': withOver({ origin: 'https://☃.example.com' }),
  'another path': withOver({ path: '/☃' }),
  'another method': withOver({ method: 'PUT' }),
  'another endpoint': withOver({ endpoint: 'createModelResponse' }),
  'another model served': withOver({ model: '☃' }),
  'other checks': withOver({ checkedBy: '☃' }),
  'another namespace': withOver({ namespace: '☃' }),
  'strict compliance': withOver({ strictOpenAiCompliance: false }),
  'what was forgotten': withOver({ generation: '☃' }),
  'another header': withOver({ namespace: undefined, upstreamHeaders: { 'x-version': '☃' } }),
  'another model asked': withBody({ model: '☃' }),
  'another temperature': withBody({ temperature: 2.5 }),
  'other tools': withBody({ tools: [{ type: 'function', function: { name: '☃' } }] }),
  'a seed': withBody({ seed: 1 }),
  'a format': withBody({ response_format: { type: 'json_object' } }),
  'more answers': withBody({ n: 2 }),
  'another system prompt': withMessage(0, { content: '☃' }),
  'another turn before': withMessage(1, { content: '☃' }),
  'another answer before': withMessage(2, { content: '☃' }),
  'a name': withMessage(1, { name: '☃' }),
};

function requestOf({ over, body, words, isSemantic }: Asked): CacheRequest {
  const messages = [...(body.messages as JsonValue[]), { role: 'user', content: words }];
  const askedJson = { ...body, messages };
  return exampleCacheRequest({
    ...over,
    sentJson: askedJson,
    semantic: isSemantic ? exampleSemanticAsk({ askedJson, bodyBytes: 1000 }) : undefined,
  });
}

/** Asks, and answers what is not kept with `own`. */
async function answerTo(cache: ReplyCache, asked: Asked, own: string): Promise<string> {
  const { kept, fill } = await cache.lookUp(requestOf(asked));
  const message = { role: 'assistant', content: own };
  const reply = { ...exampleChatReply, choices: [{ index: 0, message, finish_reason: 'stop' }] };
  fill?.keepBody(Buffer.from(JSON.stringify(reply)), 'application/json');
  if (kept === undefined) return own;
  return JSON.parse(kept.body.toString()).choices[0].message.content;
}

let plain: SpawnedServer;
let searching: VectorRedis;
const clients: Redis[] = [];
beforeAll(async () => {
  [plain, searching] = await Promise.all([startRedis(), startVectorRedis()]);
});
afterAll(async () => {
  for (const redis of clients) redis.disconnect();
  await Promise.all([plain.stop(), searching.stop()]);
});

function shared(url: string): SharedStore {
  const client = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 0 });
  client.on('error', () => {});
  clients.push(client);
  return new SharedStore({
    client,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
}

/** A server that is late on a busy machine is an empty cache, which is not what is asked here. */
const timeoutMs = 10_000;

const localVectors = () => new MemoryVectors({ dimensions: 2, bytesMax: 10_000_000 });
const cacheOf = (store: CacheStore, vectors = localVectors() as ReplyCacheVectors) =>
  new ReplyCache({ store, vectors, objectBytesMax: 10_000, flightWaitMs: 5000 });
type ReplyCacheVectors = ConstructorParameters<typeof ReplyCache>[0]['vectors'];

const places: [string, number, () => Promise<ReplyCache>][] = [
  ['memory', 15, async () => cacheOf(new MemoryCache({ bytesMax: 100_000_000 }))],
  [
    'Redis',
    3,
    async () => {
      const store = new RedisCache({ store: shared(plain.url), timeoutMs });
      const vectors = new RedisVectors(
        { dimensions: 2, timeoutMs },
        { store: shared(searching.url), local: localVectors() },
      );
      await eventually(() => !store.degraded && !vectors.degraded);
      return cacheOf(store, vectors);
    },
  ],
];

describe.each(places)('in %s', (_place, numRuns, makeCache) => {
  let cache: ReplyCache;
  let runs = 0;
  beforeAll(async () => {
    cache = await makeCache();
  });

  it.each(Object.entries(differences))('no answer is shared across %s', (_name, differ) =>
    fc.assert(
      fc.asyncProperty(base, fc.boolean(), fc.boolean(), text, async (...generatedAll) => {
        const [generated, isOthers, isRace, words] = generatedAll;
        runs++;
        // A room of its own for each run.
        const one = withOver({
          ...generated.over,
          metadata: { ...generated.over.metadata, run: String(runs) },
        })(generated);
        const differs = differ(one);
        const other = { ...differs, isSemantic: isOthers };
        if (differs.over.metadata !== one.over.metadata)
          other.over = { ...other.over, metadata: { ...other.over.metadata, run: String(runs) } };
        const inOtherWords = { ...one, words: `o${words}` };
        const others = { ...other, words: `o${words}` };
        const answers = (asked: readonly Asked[], own: readonly string[]) =>
          Promise.all(asked.map((it, at) => answerTo(cache, it, own[at] ?? '')));
        // Either the one is kept when the other comes, or they come together.
        if (!isRace) expect(await answers([one, one], ['one', 'one'])).toEqual(['one', 'one']);
        const asked = [one, other, others, other, one];
        const own = ['one', 'other', 'other', 'other', 'one'];
        expect(await answers(asked, own)).toEqual(own);
        expect(await answers(asked, own)).toEqual(own);
        // The same in other words is what it may share.
        const shared = one.isSemantic ? 'one' : 'asked anew';
        expect(await answers([inOtherWords], ['asked anew'])).toEqual([shared]);
      }),
      { numRuns },
    ),
  );
});
