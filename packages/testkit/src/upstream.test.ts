import { afterEach, describe, expect, it } from 'vitest';
import {
  eventually,
  garbage,
  hang,
  json,
  reset,
  sequence,
  slowHeaders,
  sse,
  startUpstream,
  type Upstream,
} from './index.ts';

let upstream: Upstream;
afterEach(() => upstream.close());

describe('startUpstream', () => {
  it('records method, path, headers and the exact bytes of the body', async () => {
    upstream = await startUpstream(json(201, { ok: true }, { 'x-extra': 'yes' }));
    const response = await fetch(`${upstream.url}/v1/chat?x=1`, {
      method: 'POST',
      body: '{"a" : 1}',
      headers: { 'X-Key': 'k' },
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-extra')).toBe('yes');
    expect(await response.json()).toEqual({ ok: true });
    const request = await upstream.received(1);
    expect(request).toMatchObject({ method: 'POST', path: '/v1/chat?x=1', aborted: false });
    expect(request.headers['x-key']).toBe('k');
    expect(request.body.toString()).toBe('{"a" : 1}');
    expect(request.json()).toEqual({ a: 1 });
  });

  it('notices a caller who leaves', async () => {
    upstream = await startUpstream(hang());
    const abort = new AbortController();
    const answer = fetch(upstream.url, { signal: abort.signal }).catch(() => 'left');
    const request = await upstream.received(1);
    abort.abort();
    expect(await answer).toBe('left');
    await eventually(() => request.aborted);
  });

  it('answers a sequence in order and then repeats its last reply', async () => {
    upstream = await startUpstream(sequence(json(500, {}), json(200, {})));
    const statuses = [];
    for (let turn = 0; turn < 3; turn += 1) statuses.push((await fetch(upstream.url)).status);
    expect(statuses).toEqual([500, 200, 200]);
  });
});

describe('sse', () => {
  it('frames objects and strings, and leaves framed events as they are', async () => {
    upstream = await startUpstream(
      sse([{ a: 'é' }, 'event: x\ndata: 1\n\n', '[DONE]'], { chunking: [1, 3] }),
    );
    const response = await fetch(upstream.url);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe('data: {"a":"é"}\n\nevent: x\ndata: 1\n\ndata: [DONE]\n\n');
  });

  it('breaks the connection after the events before the cut have arrived', async () => {
    upstream = await startUpstream(sse(['one', 'two', 'three'], { cutAfter: 2 }));
    const { seen, failed } = await readAll(await fetch(upstream.url));
    expect(seen).toBe('data: one\n\ndata: two\n\n');
    expect(failed).toBe(true);
  });

  it('stalls with the connection open', async () => {
    upstream = await startUpstream(sse(['one', 'two'], { stallAfter: 1 }));
    const response = await fetch(upstream.url);
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: one\n\n');
    const more = await Promise.race([
      reader.read().then(() => 'more'),
      new Promise((resolve) => setTimeout(resolve, 50, 'silence')),
    ]);
    expect(more).toBe('silence');
    await reader.cancel();
  });
});

it.each([
  ['reset', reset()],
  ['garbage', garbage()],
])('%s makes the request fail without an answer', async (_name, reply) => {
  upstream = await startUpstream(reply);
  await expect(fetch(upstream.url)).rejects.toThrow();
  expect(upstream.requests).toHaveLength(1);
});

it('slowHeaders holds the headers back', async () => {
  upstream = await startUpstream(slowHeaders(60));
  const startedAt = performance.now();
  await fetch(upstream.url);
  expect(performance.now() - startedAt).toBeGreaterThan(50);
});

async function readAll(response: Response): Promise<{ seen: string; failed: boolean }> {
  let seen = '';
  try {
    for await (const chunk of response.body!) seen += new TextDecoder().decode(chunk);
    return { seen, failed: false };
  } catch {
    return { seen, failed: true };
  }
}
