import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  exampleCacheRequest,
  exampleChatReply,
  manualStream,
  RecordingSink,
} from '../../test/cache-request.ts';
import type { Reply } from '../exchange/reply.ts';
import { MemoryCache } from './memory.ts';
import { type CacheLookup, type CacheRequest, ReplyCache } from './reply-cache.ts';
import { MemoryVectors } from './semantic/memory-vectors.ts';
import type { CachedReply, CacheStore } from './store.ts';

const flightWaitMs = 5017;
const jsonBody = Buffer.from(JSON.stringify(exampleChatReply));

let nowMs = 0;
let store: MemoryCache;
let cache: ReplyCache;
beforeEach(() => {
  vi.useFakeTimers();
  nowMs = 1_700_000_000_000;
  const now = () => nowMs;
  store = new MemoryCache({ bytesMax: 1_000_000, entriesMax: 100, now });
  cache = new ReplyCache({
    vectors: new MemoryVectors({ dimensions: 4, bytesMax: 100_000 }),
    store,
    objectBytesMax: 2000,
    flightWaitMs,
    now,
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/**
 * Counts the waits in flights that nobody has ended: by their length, since files share a worker, in which what an
 * earlier one left running may begin timers of its own.
 */
function watchWaits(): () => number {
  const begun = vi.spyOn(globalThis, 'setTimeout');
  const ended = vi.spyOn(globalThis, 'clearTimeout');
  return () => {
    const over = new Set<unknown>(ended.mock.calls.map(([timer]) => timer));
    const waits = begun.mock.results.filter((_, at) => begun.mock.calls[at]?.[1] === flightWaitMs);
    expect(waits).not.toEqual([]);
    return waits.filter(({ value }) => !over.has(value)).length;
  };
}

async function ask(over: Partial<CacheRequest> = {}): Promise<CacheLookup> {
  return cache.lookUp(exampleCacheRequest(over));
}

/** Asks, and answers where there is something to answer. */
async function askAndKeep(over: Partial<CacheRequest> = {}, body = jsonBody): Promise<CacheLookup> {
  const found = await ask(over);
  found.fill?.keepBody(body, 'application/json');
  return found;
}

function textOf(reply: Reply | undefined): string {
  if (reply?.kind !== 'stream') return reply?.body.toString() ?? '';
  const sink = new RecordingSink();
  reply.pipeTo(sink);
  expect(sink.ending).toBe('end');
  return sink.text;
}

/** How far a promise is, without waiting for it. */
async function stateOf(promise: Promise<CacheLookup>): Promise<string> {
  await vi.advanceTimersByTimeAsync(0);
  return Promise.race([promise.then(({ status }) => status), 'waiting']);
}

const usageEvent = `data: {"id":"i","choices":[],"usage":{"prompt_tokens":1}}\n\n`;
const streamEvents = [
  'data: {"id":"i","choices":[{"index":0,"delta":{"role":"assistant","content":"He"}}]}\n\n',
  'data: {"id":"i","choices":[{"index":0,"delta":{"content":"y"}}]}\n\n',
  'data: {"id":"i","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
];
const withUsage = [...streamEvents.slice(0, 3), usageEvent, 'data: [DONE]\n\n'];
const usageAsked: Partial<CacheRequest> = {
  wantsStream: true,
  sentJson: {
    ...exampleCacheRequest().sentJson,
    stream: true,
    stream_options: { include_usage: true },
  },
};

/** Asks for a stream and lets one through. */
async function askAndStream(events: string[], over: Partial<CacheRequest> = { wantsStream: true }) {
  const found = await ask(over);
  const upstream = manualStream();
  const reply = found.fill?.keepStream(upstream.reply, () => true);
  const sink = new RecordingSink();
  reply?.pipeTo(sink);
  for (const event of events) upstream.sink().write(Buffer.from(event));
  upstream.sink().end();
  return { found, sink };
}

describe('a look-up', () => {
  it('without a rule, or at an endpoint that is not cached, is over at once', () => {
    expect(cache.lookUp(exampleCacheRequest({ rule: undefined }))).toEqual({ status: 'DISABLED' });
    for (const endpoint of ['proxy', 'listModels'] as const)
      expect(cache.lookUp(exampleCacheRequest({ endpoint }))).toEqual({ status: 'DISABLED' });
    expect(cache.flightCount).toBe(0);
  });

  it('misses, then hits with the same bytes and no header but the content type', async () => {
    expect((await askAndKeep()).status).toBe('MISS');
    const { status, reply } = await ask();
    expect(status).toBe('HIT');
    expect(reply).toEqual({
      kind: 'body',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: jsonBody,
    });
  });

  it('gives every caller a reply of its own: headers added to one are not on the next', async () => {
    await askAndKeep();
    const first = await ask();
    if (first.reply !== undefined) first.reply.headers['x-service-request-id'] = '1';
    expect((await ask()).reply?.headers).toEqual({ 'content-type': 'application/json' });
  });

  it('misses at another provider, workspace or credential', async () => {
    await askAndKeep();
    for (const over of [{ provider: 'groq' }, { workspaceId: 'ws-2' }, { credential: 'sk-2' }])
      expect((await ask(over)).status).toBe('MISS');
  });

  it('serves responses too, whole as JSON and as a stream', async () => {
    const over = { endpoint: 'createModelResponse', sentJson: { model: 'm', input: 'x' } } as const;
    const response = { id: 'resp_1', object: 'response', status: 'completed', output: [] };
    await askAndKeep(over, Buffer.from(JSON.stringify(response)));
    expect(textOf((await ask(over)).reply)).toBe(JSON.stringify(response));
    expect(textOf((await ask({ ...over, wantsStream: true })).reply)).toContain(
      'event: response.completed',
    );
  });

  it('keeps no response that failed, or goes on without the caller', async () => {
    const endpoint = 'createModelResponse';
    for (const status of ['failed', 'queued', 'in_progress']) {
      const over = { endpoint, sentJson: { model: 'm', input: status } } as const;
      await askAndKeep(over, Buffer.from(JSON.stringify({ object: 'response', status })));
      expect((await ask(over)).status).toBe('MISS');
    }
    for (const field of ['background', 'conversation']) {
      const sentJson = { model: 'm', input: 'x', [field]: true };
      expect((await ask({ endpoint, sentJson })).status).toBe('DISABLED');
    }
  });

  it('serves embeddings too', async () => {
    const embedding = Buffer.from('{"data":[]}');
    await askAndKeep({ endpoint: 'embed' }, embedding);
    expect(textOf((await ask({ endpoint: 'embed' })).reply)).toBe('{"data":[]}');
  });

  it('hits until the age of the rule that reads is over, and a week without one', async () => {
    await askAndKeep();
    nowMs += 60_000;
    const minute = { rule: { maxAgeS: 60, semantic: undefined } } as const;
    const old = await ask(minute);
    expect(old.status).toBe('MISS');
    old.fill?.release();
    nowMs += 604_800_000 - 60_001;
    expect((await ask()).status).toBe('HIT');
    nowMs += 1;
    expect((await ask()).status).toBe('MISS');
  });

  it('keeps for as long as the organisation says without a rule, and never longer', async () => {
    const asking = (maxAgeS: number | undefined) =>
      ask({ maxAgeCapS: 3600, rule: { maxAgeS, semantic: undefined } });
    (await asking(undefined)).fill?.keepBody(jsonBody, 'application/json');
    nowMs += 600_000;
    expect((await asking(undefined)).status).toBe('HIT');
    expect((await asking(86_400)).status).toBe('HIT');
    const younger = await asking(600);
    expect(younger.status).toBe('MISS');
    younger.fill?.release();
    nowMs += 3_000_000;
    expect((await asking(86_400)).status).toBe('MISS');
  });

  it('of a caller who has left already asks for nothing', () => {
    const signal = AbortSignal.abort();
    expect(() => cache.lookUp(exampleCacheRequest({ signal }))).toThrow(
      expect.objectContaining({ code: 'request.aborted' }),
    );
    expect(cache.flightCount).toBe(0);
  });

  it('with force refresh asks the upstream and overwrites, in every form', async () => {
    await askAndStream(streamEvents);
    expect((await askAndKeep({ forceRefresh: true })).status).toBe('REFRESH');
    expect(textOf((await ask()).reply)).toBe(jsonBody.toString());
    expect(textOf((await ask({ wantsStream: true })).reply)).toContain('Grüße');
    await askAndStream(withUsage, { ...usageAsked, forceRefresh: true });
    expect(JSON.parse(textOf((await ask()).reply))).toMatchObject({
      choices: [{ message: { content: 'Hey' } }],
    });
  });
});

describe('what is stored', () => {
  it('is JSON alone', async () => {
    const found = await ask();
    found.fill?.keepBody(Buffer.from('<html>'), 'text/html');
    expect((await ask()).status).toBe('MISS');
  });

  it('is not empty, and not larger than the cap', async () => {
    await askAndKeep({}, Buffer.alloc(0));
    await askAndKeep({}, Buffer.alloc(2001, ' '));
    expect(store.size).toBe(0);
    await askAndKeep({}, Buffer.alloc(2000, ' '));
    expect(store.size).toBe(1);
  });

  it('is what came first: a second answer and a release change nothing', async () => {
    const { fill } = await askAndKeep();
    fill?.keepBody(Buffer.from('{}'), 'application/json');
    fill?.release();
    expect(textOf((await ask()).reply)).toBe(jsonBody.toString());
  });
});

describe('a stream on its way', () => {
  it('passes at once and untouched, and is hit with the same bytes after its end', async () => {
    const { fill } = await ask({ wantsStream: true });
    const upstream = manualStream({ headers: { 'content-type': 'text/event-stream', a: 'b' } });
    const reply = fill?.keepStream(upstream.reply, () => true);
    expect(reply).toMatchObject({ status: 200, headers: { a: 'b' } });
    const caller = new RecordingSink();
    reply?.pipeTo(caller);
    for (const [index, event] of streamEvents.entries()) {
      const chunk = Buffer.from(event);
      upstream.sink().write(chunk);
      expect(caller.chunks[index]).toBe(chunk);
    }
    expect(caller.ending).toBe('');
    upstream.sink().end();
    expect(caller.ending).toBe('end');
    const hit = await ask({ wantsStream: true });
    expect(hit.reply?.headers).toEqual({ 'content-type': 'text/event-stream' });
    expect(textOf(hit.reply)).toBe(streamEvents.join(''));
  });

  it('goes as fast as its caller reads', async () => {
    const { fill } = await ask({ wantsStream: true });
    const upstream = manualStream();
    const caller = new RecordingSink();
    fill?.keepStream(upstream.reply, () => true).pipeTo(caller);
    caller.wantsMore = false;
    expect(upstream.sink().write(Buffer.from('a'))).toBe(false);
    let drained = false;
    upstream.sink().onDrain(() => (drained = true));
    caller.drain?.();
    expect(drained).toBe(true);
  });

  const failures: Record<string, (upstream: ReturnType<typeof manualStream>) => void> = {
    'is not whole at its end': (upstream) => upstream.sink().end(),
    'is cut': (upstream) => upstream.sink().cut('upstream.stream_cut'),
    'grows over the cap': (upstream) => upstream.sink().write(Buffer.alloc(2001)),
  };
  for (const [what, happen] of Object.entries(failures))
    it(`that ${what} is not stored, and the next one in line asks`, async () => {
      const { fill } = await ask({ wantsStream: true });
      const next = ask({ wantsStream: true });
      const upstream = manualStream();
      const caller = new RecordingSink();
      fill?.keepStream(upstream.reply, () => what !== 'is not whole at its end').pipeTo(caller);
      upstream.sink().write(Buffer.from('data: {}\n\n'));
      expect(await stateOf(next)).toBe('waiting');
      happen(upstream);
      expect((await next).status).toBe('MISS');
      expect(store.size).toBe(0);
    });

  it('that grows over the cap reaches its caller whole', async () => {
    const { fill } = await ask({ wantsStream: true });
    const upstream = manualStream();
    const caller = new RecordingSink();
    fill?.keepStream(upstream.reply, () => true).pipeTo(caller);
    for (let index = 0; index < 5; index++) upstream.sink().write(Buffer.alloc(1000, 'x'));
    upstream.sink().end();
    expect(caller.text).toBe('x'.repeat(5000));
    expect(caller.ending).toBe('end');
    expect(store.size).toBe(0);
  });

  it('that is let go lets the next one in line ask', async () => {
    const { fill } = await ask({ wantsStream: true });
    const next = ask({ wantsStream: true });
    const upstream = manualStream();
    fill?.keepStream(upstream.reply, () => true).discard();
    expect(upstream.isDiscarded).toBe(true);
    expect((await next).status).toBe('MISS');
  });

  it('is not ended by a release: the stream itself says when it is over', async () => {
    const { fill } = await ask({ wantsStream: true });
    const next = ask({ wantsStream: true });
    const upstream = manualStream();
    fill?.keepStream(upstream.reply, () => true).pipeTo(new RecordingSink());
    fill?.release();
    expect(await stateOf(next)).toBe('waiting');
    for (const event of streamEvents) upstream.sink().write(Buffer.from(event));
    upstream.sink().end();
    expect(textOf((await next).reply)).toBe(streamEvents.join(''));
  });

  it('is kept where it says that it is not compressed, however that is spelt', async () => {
    const { fill } = await ask({ wantsStream: true });
    const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'Identity' };
    const { reply } = manualStream({ headers });
    const watched = fill?.keepStream(reply, () => true);
    expect(watched).not.toBe(reply);
    watched?.discard();
  });

  it('is left alone when it is an error, compressed, or no event stream', async () => {
    const others: Parameters<typeof manualStream>[0][] = [
      { status: 206 },
      { headers: { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' } },
      { headers: { 'content-type': 'application/json' } },
      { headers: {} },
    ];
    for (const over of others) {
      const { fill, status } = await ask({ wantsStream: true });
      expect(status).toBe('MISS');
      const { reply } = manualStream(over);
      expect(fill?.keepStream(reply, () => true)).toBe(reply);
    }
    expect(cache.flightCount).toBe(0);
  });

  it('is not copied while too many bytes are under way, and is once they have gone', async () => {
    const open = [];
    for (let index = 0; index < 65; index++) {
      const { fill } = await ask({ wantsStream: true, model: `m${index}` });
      const upstream = manualStream();
      fill?.keepStream(upstream.reply, () => true).pipeTo(new RecordingSink());
      upstream.sink().write(Buffer.alloc(2000, 'x'));
      open.push(upstream);
    }
    expect(cache.flightCount).toBe(64);
    for (const upstream of open) upstream.sink().end();
    expect(store.size).toBe(64);
    await askAndStream(streamEvents, { wantsStream: true, model: 'later' });
    expect(store.size).toBe(65);
  });
});

describe('one answer in another form', () => {
  it('is told as a stream where JSON is stored, with the usage for those who ask', async () => {
    await askAndKeep();
    const plain = await ask({ wantsStream: true });
    expect(plain.reply?.headers).toEqual({ 'content-type': 'text/event-stream' });
    expect(textOf(plain.reply)).toMatch(/"content":"Grüße 👋🏽".*\[DONE\]\n\n$/s);
    expect(textOf((await ask(usageAsked)).reply)).toContain('"choices":[],"usage":{"prompt_tok');
  });

  it('is put together where a stream with its usage is stored', async () => {
    await askAndStream(withUsage, usageAsked);
    expect(textOf((await ask(usageAsked)).reply)).toBe(withUsage.join(''));
    const json = await ask();
    expect(json.reply?.headers).toEqual({ 'content-type': 'application/json' });
    expect(JSON.parse(textOf(json.reply))).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: 'Hey' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1 },
    });
    // Those who did not ask for the usage are not sent a chunk without a choice.
    expect(textOf((await ask({ wantsStream: true })).reply)).not.toContain('"choices":[]');
  });

  it('is a miss where the stored stream does not tell enough', async () => {
    await askAndStream(streamEvents);
    expect((await ask(usageAsked)).status).toBe('MISS');
    expect((await askAndKeep()).status).toBe('MISS');
    // From now on one answer serves all.
    for (const over of [{}, usageAsked, { wantsStream: true }])
      expect(textOf((await ask(over)).reply)).toContain('Grüße');
  });

  it('serves those who wait for a stream when the upstream answered with JSON', async () => {
    const leader = await ask({ wantsStream: true });
    const follower = ask({ wantsStream: true });
    leader.fill?.keepBody(jsonBody, 'application/json');
    expect(textOf((await follower).reply)).toContain('data: [DONE]');
  });
});

describe('many who want the same', () => {
  it('have one leader, and all get what it brings', async () => {
    const openWaits = watchWaits();
    const lookups = Array.from({ length: 100 }, () => ask());
    const [leader, ...followers] = lookups;
    expect((await leader)?.status).toBe('MISS');
    expect(await stateOf(followers[98] as Promise<CacheLookup>)).toBe('waiting');
    (await leader)?.fill?.keepBody(jsonBody, 'application/json');
    const replies = await Promise.all(followers);
    expect(replies.every(({ reply }) => textOf(reply) === jsonBody.toString())).toBe(true);
    expect(cache.flightCount).toBe(0);
    expect(openWaits()).toBe(0);
  });

  it('have one leader at a time while leaders bring nothing', async () => {
    const lookups = Array.from({ length: 5 }, () => ask());
    for (const [index, lookup] of lookups.entries()) {
      const leader = await lookup;
      expect(leader.status).toBe('MISS');
      const rest = lookups.slice(index + 1);
      expect(await Promise.all(rest.map(stateOf))).toEqual(rest.map(() => 'waiting'));
      leader.fill?.release();
    }
    expect(cache.flightCount).toBe(0);
  });

  it('wait for the second leader when the first one brings nothing', async () => {
    const [first, second, third] = [ask(), ask(), ask()];
    (await first).fill?.release();
    (await second).fill?.keepBody(jsonBody, 'application/json');
    expect((await third).status).toBe('HIT');
  });

  it('are led by the next one when the leader’s caller leaves', async () => {
    const caller = new AbortController();
    const leader = await ask({ signal: caller.signal });
    const next = ask();
    caller.abort();
    expect((await next).status).toBe('MISS');
    // What the first one brings all the same is stored, and does not end the second one's flight.
    leader.fill?.keepBody(jsonBody, 'application/json');
    expect(cache.flightCount).toBe(1);
    (await next).fill?.release();
    expect(cache.flightCount).toBe(0);
    expect((await ask()).status).toBe('HIT');
  });

  it('may leave while they wait, and are never made to lead', async () => {
    const openWaits = watchWaits();
    const leader = await ask();
    const caller = new AbortController();
    const follower = ask({ signal: caller.signal });
    const next = ask();
    caller.abort();
    await expect(follower).rejects.toMatchObject({ code: 'request.aborted' });
    leader.fill?.release();
    expect((await next).status).toBe('MISS');
    (await next).fill?.release();
    expect(cache.flightCount).toBe(0);
    expect(openWaits()).toBe(0);
  });

  it('wait so long and no longer, over all leaders together', async () => {
    const first = await ask();
    const [second, third] = [ask(), ask()];
    await vi.advanceTimersByTimeAsync(flightWaitMs - 1);
    first.fill?.release();
    expect(await stateOf(third)).toBe('waiting');
    expect((await second).status).toBe('MISS');
    await vi.advanceTimersByTimeAsync(1);
    const late = await third;
    expect(late.status).toBe('MISS');
    // It asks for itself; its answer counts as well.
    late.fill?.keepBody(jsonBody, 'application/json');
    expect((await ask({ wantsStream: true })).status).toBe('HIT');
    (await second).fill?.release();
    expect(cache.flightCount).toBe(0);
  });

  it('are served at once when another one’s answer is stored meanwhile', async () => {
    await ask();
    await askAndKeep({ wantsStream: true });
    expect((await ask()).status).toBe('HIT');
  });

  it('do not wait for those who want the other form', async () => {
    await ask();
    expect((await ask({ wantsStream: true })).status).toBe('MISS');
    expect((await ask(usageAsked)).status).toBe('MISS');
  });

  it('get what is stored while a refresh is under way, and its answer where nothing is', async () => {
    await askAndKeep();
    const refresh = await ask({ forceRefresh: true });
    expect((await ask()).status).toBe('HIT');
    refresh.fill?.release();
    const other = await ask({ forceRefresh: true, model: 'm2' });
    const follower = ask({ model: 'm2' });
    expect(await stateOf(follower)).toBe('waiting');
    other.fill?.keepBody(jsonBody, 'application/json');
    expect((await follower).status).toBe('HIT');
  });

  it('do not hold up a refresh', async () => {
    await ask();
    const refresh = await ask({ forceRefresh: true });
    expect(refresh.status).toBe('REFRESH');
    refresh.fill?.keepBody(jsonBody, 'application/json');
    expect(store.size).toBe(1);
  });
});

describe('with a store that takes its time', () => {
  /** Look-ups answer when told to. */
  class SlowStore implements CacheStore {
    readonly isLocal = false;
    readonly held = new Map<string, CachedReply>();
    readonly lookups: (() => void)[] = [];

    get(_organisationId: string, key: string): Promise<CachedReply | undefined> {
      const found = this.held.get(key);
      return new Promise((resolve) => this.lookups.push(() => resolve(found)));
    }
    set(_organisationId: string, key: string, reply: CachedReply): void {
      this.held.set(key, reply);
    }
    peek(_organisationId: string, key: string): CachedReply | undefined {
      return this.held.get(key);
    }
    forget(_organisationId: string, key: string): void {
      this.held.delete(key);
    }
  }

  let slow: SlowStore;
  beforeEach(() => {
    slow = new SlowStore();
    cache = new ReplyCache({
      vectors: new MemoryVectors({ dimensions: 4, bytesMax: 100_000 }),
      store: slow,
      objectBytesMax: 2000,
      flightWaitMs,
      now: () => nowMs,
    });
  });

  it('many share one look-up, and its hit', async () => {
    const first = ask();
    slow.lookups.shift()?.();
    (await first).fill?.keepBody(jsonBody, 'application/json');
    const lookups = Array.from({ length: 50 }, () => ask());
    expect(slow.lookups).toHaveLength(1);
    slow.lookups[0]?.();
    const found = await Promise.all(lookups);
    expect(found.every(({ status }) => status === 'HIT')).toBe(true);
    expect(cache.flightCount).toBe(0);
  });

  it('a refresh that ends during a look-up answers it', async () => {
    const refresh = await ask({ forceRefresh: true });
    const looking = ask();
    refresh.fill?.keepBody(jsonBody, 'application/json');
    slow.lookups[0]?.();
    expect((await looking).status).toBe('HIT');
  });

  it('a caller who leaves during the look-up holds up nobody', async () => {
    const caller = new AbortController();
    const leaving = ask({ signal: caller.signal });
    const next = ask();
    caller.abort();
    expect((await next).status).toBe('MISS');
    slow.lookups[0]?.();
    (await leaving).fill?.release();
    expect(cache.flightCount).toBe(1);
    (await next).fill?.release();
    expect(cache.flightCount).toBe(0);
  });
});
