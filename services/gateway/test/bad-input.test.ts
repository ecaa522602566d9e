import { bytes, garbage, hang, json, reset, sse, startUpstream } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  chatBody,
  chatReply,
  errorOf,
  ledgerHolds,
  type Scenario,
  settledTotal,
  startScenario,
} from './scenario.ts';

let scenario: Scenario;
let gatewayPid: number | undefined;
beforeAll(async () => {
  scenario = await startScenario({
    promptLedger: true,
    processes: ['gateway'],
    environment: { gateway: { REQUEST_TIMEOUT: '700', STREAM_IDLE_TIMEOUT: '700' } },
  });
  gatewayPid = scenario.stack.part('gateway').pid;
});
afterAll(async () => {
  // Whatever was sent, the process that took it is the one that started.
  expect(scenario.stack.part('gateway').pid).toBe(gatewayPid);
  scenario.upstream.handle(json(200, chatReply));
  expect((await scenario.chat()).status).toBe(200);
  await scenario.stop();
});

const stream = { ...chatBody, stream: true };
const content = {
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }],
};

describe('bodies', () => {
  it.each([
    ['malformed JSON', '{"model": "m", "messages": [', 400, 'request.malformed_json', 'body'],
    ['an empty body', '', 400, 'request.malformed_json', 'body'],
    ['an array', '[]', 400, 'request.invalid_field', 'body'],
    [
      'deep JSON',
      `{"model":"m","messages":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
      400,
      'request.too_deep',
      'body',
    ],
    ['a model of the wrong type', '{"model": 5}', 400, 'request.invalid_field', 'body.model'],
    [
      'stream of the wrong type',
      '{"model": "m", "stream": "yes"}',
      400,
      'request.invalid_field',
      'body.stream',
    ],
    [
      'bytes that are not UTF-8',
      Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
      400,
      'request.malformed_json',
      'body',
    ],
  ])('%s', async (_name, rawBody, status, code, param) => {
    expect(await errorOf(await scenario.chat({ rawBody }))).toMatchObject({ status, code, param });
  });

  it('50 MB are refused with 413', async () => {
    const response = await scenario.chat({
      rawBody: `{"model":"m","pad":"${'x'.repeat(50 * 1024 * 1024)}"}`,
    });
    expect(await errorOf(response)).toMatchObject({ status: 413, code: 'request.too_large' });
  });

  it('50 MB without a declared length are refused with 413', async () => {
    let left = 50;
    const rawBody = new ReadableStream({
      pull(controller) {
        if (left-- === 0) controller.close();
        else controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
      },
    });
    const response = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'x-service-api-key': scenario.stack.credentials.workspace_key,
        'x-service-provider': '@demo',
        'content-type': 'application/json',
      },
      body: rawBody,
      duplex: 'half',
    } as RequestInit);
    expect(await errorOf(response)).toMatchObject({ status: 413, code: 'request.too_large' });
  });

  it('another content type is refused', async () => {
    const response = await scenario.chat({
      rawBody: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(await errorOf(response)).toMatchObject({
      status: 400,
      code: 'request.unsupported_content_type',
    });
  });
});

describe('routing', () => {
  it.each([
    [
      'an unknown config slug',
      { 'x-service-config': 'pc-nope-123456' },
      400,
      'config.not_found',
      'x-service-config',
    ],
    [
      'inline config that is not JSON',
      { 'x-service-config': '{oops' },
      400,
      'config.invalid',
      'x-service-config',
    ],
    [
      'inline config with a wrong type',
      { 'x-service-config': '{"provider":5}' },
      400,
      'config.invalid',
      'config.provider',
    ],
    [
      'an unknown provider',
      { 'x-service-provider': 'no-such-vendor' },
      400,
      'provider.unknown',
      'x-service-provider',
    ],
    [
      'an unknown saved provider',
      { 'x-service-provider': '@nope' },
      400,
      'provider.not_found',
      'x-service-provider',
    ],
    ['no provider at all', {}, 400, 'provider.missing', 'x-service-provider'],
    [
      'a timeout that is no number',
      { 'x-service-provider': '@demo', 'x-service-request-timeout': 'soon' },
      400,
      'request.invalid_header',
      'x-service-request-timeout',
    ],
  ])('%s', async (_name, headers, status, code, param) => {
    expect(await errorOf(await scenario.chat({ host: null, headers }))).toMatchObject({
      status,
      code,
      param,
    });
  });

  it.each([
    'http://169.254.169.254/latest',
    'http://10.0.0.1',
    'http://192.168.1.1/v1',
    'http://2130706433',
    'http://0x7f.1',
    'http://[::ffff:10.0.0.1]',
    'http://x.nip.io',
    'http://metadata.google.internal',
    'file:///etc/passwd',
    'http://user:pass@example.com',
    'http://127.0.0.1:6379',
  ])('a private host is refused: %s', async (host) => {
    const seen = scenario.upstream.requests.length;
    expect(await errorOf(await scenario.chat({ host }))).toMatchObject({
      status: 400,
      code: 'host.invalid',
      param: 'x-service-custom-host',
    });
    expect(scenario.upstream.requests).toHaveLength(seen);
  });
});

describe('upstreams', () => {
  it('unreachable: 503', async () => {
    const gone = await startUpstream();
    await gone.close();
    expect(await errorOf(await scenario.chat({ host: gone.url }))).toMatchObject({
      status: 503,
      code: 'upstream.unreachable',
    });
  });

  it.each([
    ['resets', reset(), 502, 'upstream.reset'],
    ['hangs', hang(), 408, 'upstream.timeout'],
    ['answers bytes that are not HTTP', garbage(), 502, 'upstream.invalid_response'],
    [
      'answers JSON that is none',
      bytes(200, Buffer.from('<html>'), { 'content-type': 'application/json' }),
      502,
      'upstream.invalid_response',
    ],
  ])('%s', async (_name, reply, status, code) => {
    scenario.upstream.handle(reply);
    expect(await errorOf(await scenario.chat())).toMatchObject({ status, code });
  });

  it('the caller’s own timeout counts', async () => {
    scenario.upstream.handle(hang());
    const tookMs: number[] = [];
    // A busy machine may make one of them as late as the gateway's own would be.
    while (tookMs.length < 3 && !tookMs.some((ms) => ms < 600)) {
      const startedAt = performance.now();
      const response = await scenario.chat({ headers: { 'x-service-request-timeout': '100' } });
      expect(await errorOf(response)).toMatchObject({ status: 408, code: 'upstream.timeout' });
      tookMs.push(performance.now() - startedAt);
    }
    expect(Math.min(...tookMs)).toBeLessThan(600);
  });

  it('cuts the stream before any content: an ordinary error', async () => {
    scenario.upstream.handle(
      sse(
        [
          {
            ...content,
            choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }],
          },
        ],
        { cutAfter: 1 },
      ),
    );
    expect(await errorOf(await scenario.chat({ body: stream }))).toMatchObject({
      status: 502,
      code: 'upstream.stream_cut',
    });
  });

  it('cuts the stream after content: an error event, and no [DONE]', async () => {
    scenario.upstream.handle(sse([content, content, content], { cutAfter: 2 }));
    const response = await scenario.chat({ body: stream });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text.match(/"content":"x"/g)).toHaveLength(2);
    expect(text).toContain('"code":"upstream.stream_cut"');
    expect(text).not.toContain('[DONE]');
  });

  it('stalls: an error event', async () => {
    scenario.upstream.handle(sse([content, content], { stallAfter: 1 }));
    const text = await (await scenario.chat({ body: stream })).text();
    expect(text).toContain('"code":"upstream.stream_stalled"');
    expect(text).not.toContain('[DONE]');
  });

  it('ends the stream without its terminator: an error event', async () => {
    scenario.upstream.handle(sse([content, content]));
    const text = await (await scenario.chat({ body: stream })).text();
    expect(text).toContain('"code":"upstream.stream_cut"');
  });

  it('sends garbage as a stream: an ordinary error', async () => {
    scenario.upstream.handle(
      bytes(200, Buffer.from('data: {"oops\n\ndata: not json at all\n\n'), {
        'content-type': 'text/event-stream',
      }),
    );
    const response = await scenario.chat({ body: stream });
    expect(await errorOf(response)).toMatchObject({ status: 502 });
  });

  it('is cancelled when the caller leaves', async () => {
    scenario.upstream.handle(
      sse(
        Array.from({ length: 100 }, () => content),
        { delayMs: 50 },
      ),
    );
    const seen = scenario.upstream.requests.length;
    const abort = new AbortController();
    const response = await scenario.chat({ body: stream, signal: abort.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    abort.abort();
    const request = await scenario.upstream.received(seen + 1);
    await expect.poll(() => request.aborted).toBe(true);
  });
});

it('leaves one record for each request, refused or failed', async () => {
  const before = await settledTotal(scenario);
  scenario.upstream.handle(reset());
  await (await scenario.chat()).arrayBuffer();
  await (await scenario.chat({ rawBody: '{' })).arrayBuffer();
  await (await scenario.chat({ host: 'http://10.0.0.1' })).arrayBuffer();
  await ledgerHolds(scenario, before + 3);
  expect(await settledTotal(scenario)).toBe(before + 3);
});
