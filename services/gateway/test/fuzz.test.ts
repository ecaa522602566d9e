import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isLongForm, json } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRaw } from './raw-http.ts';
import { chatBody, chatReply, type Scenario, startScenario } from './scenario.ts';

/**
 * Requests nobody would write, by a generator with a fixed seed. Whatever
 * comes, the gateway answers with HTTP of a known status or closes; it stays
 * the same process, and keeps nothing.
 */
/** `npm run test:long` goes on for longer. */
const [forMs, enough] = isLongForm ? [12_000, 540] : [4_000, 180];

let scenario: Scenario;
let origin: string;
beforeAll(async () => {
  scenario = await startScenario({
    processes: ['gateway'],
    environment: { gateway: { REQUEST_TIMEOUT: '500', STREAM_IDLE_TIMEOUT: '500' } },
  });
  origin = scenario.stack.gatewayUrls[0] ?? '';
  scenario.upstream.handle(json(200, chatReply));
});
afterAll(() => scenario.stop());

const knownStatuses = new Set([
  200, 400, 401, 403, 404, 405, 408, 413, 414, 417, 429, 431, 500, 502, 503,
]);

/** Small, seeded, and good enough: mulberry32. */
function randomSource(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  return { next, below, pick };
}
type Random = ReturnType<typeof randomSource>;

const oddText = [
  '',
  ' ',
  '@',
  '@/',
  '@demo',
  '@demo/',
  '@@demo/x',
  '../..',
  '%00',
  '%ff',
  '{}',
  '[]',
  'null',
  'true',
  '{"a":',
  '-1',
  '0',
  '1e309',
  '9'.repeat(30),
  'NaN',
  'constructor',
  '__proto__',
  'é',
  '\u00ff\u00fe',
  'a,b,,c',
  '["a"]',
  'x'.repeat(5000),
  '"',
  '\\',
  'a;b=c',
  'http://[::1]:1',
  'http://localhost:1',
  'javascript:1',
];

function randomJson(random: Random, depth: number): unknown {
  const kind = random.below(depth > 4 ? 6 : 8);
  if (kind < 2) return random.pick(oddText);
  if (kind === 2) return random.below(1e9) - 5e8;
  if (kind === 3) return random.pick([null, true, false]);
  if (kind === 4) return random.next();
  if (kind === 5) return random.pick([{}, [], '', 0]);
  const items = Array.from({ length: random.below(4) }, () => randomJson(random, depth + 1));
  if (kind === 6) return items;
  return Object.fromEntries(items.map((item) => [random.pick(configNames), item]));
}

const configNames = [
  'strategy',
  'mode',
  'targets',
  'provider',
  'virtual_key',
  'api_key',
  'retry',
  'cache',
  'override_params',
  'overrideParams',
  'default_params',
  'custom_host',
  'request_timeout',
  'forward_headers',
  'weight',
  'options',
  'model',
  'messages',
  '__proto__',
  'constructor',
  'strict_open_ai_compliance',
];

function randomConfig(random: Random): string {
  if (random.below(4) === 0) return random.pick(oddText);
  const entries = Array.from({ length: 1 + random.below(5) }, () => [
    random.pick(configNames),
    randomJson(random, 0),
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

function randomRequest(random: Random): string {
  const key = scenario.stack.credentials.workspace_key;
  const method = random.pick([
    'POST',
    'POST',
    'GET',
    'PUT',
    'DELETE',
    'HEAD',
    'PATCH',
    'OPTIONS',
    'X',
  ]);
  const path = random.pick([
    '/v1/chat/completions',
    '/v1/chat/completions',
    '/v1/messages',
    '/v1/embeddings',
    '/v1/models',
    '/v1/proxy/chat/completions',
    '/v1/files',
    `/v1/${encodeURI(random.pick(oddText)).slice(0, 200)}`,
    '/v1/configs',
    '/health',
    '//',
    '/',
  ]);
  const body = random.pick([
    () => JSON.stringify(chatBody),
    () => JSON.stringify({ ...chatBody, ...(randomJson(random, 0) as object) }),
    () => JSON.stringify(randomJson(random, 0)),
    () => random.pick(oddText),
    () => '[['.repeat(random.below(2000)),
  ])();
  const headers: [string, string][] = [
    ['host', 'gateway'],
    ['x-service-api-key', random.below(10) === 0 ? random.pick(oddText) : key],
    ['content-type', random.below(4) === 0 ? random.pick(oddText) : 'application/json'],
    ['content-length', String(Buffer.byteLength(body, 'latin1'))],
  ];
  const isOdd = random.below(3) === 0;
  const provider = isOdd ? random.pick(['anthropic', '@demo', ...oddText]) : 'openai';
  const host = random.below(4) === 0 ? random.pick(oddText) : `${scenario.upstream.url}/v1`;
  headers.push(['x-service-provider', provider], ['x-service-custom-host', host]);
  if (random.below(3) === 0) headers.push(['x-service-config', randomConfig(random)]);
  for (const name of [
    'x-service-metadata',
    'x-service-request-timeout',
    'x-service-forward-headers',
    'x-service-trace-id',
    'x-service-strict-open-ai-compliance',
    'x-service-virtual-key',
    'traceparent',
    'baggage',
    'authorization',
    'x-api-key',
    'accept-encoding',
    'connection',
    'te',
    'expect',
    'transfer-encoding',
    'content-encoding',
    'range',
  ])
    if (random.below(12) === 0)
      headers.push([name, random.below(3) === 0 ? randomConfig(random) : random.pick(oddText)]);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return mutated(random, `${method} ${path} HTTP/1.1\r\n${lines}\r\n${body}`);
}

/** One in four is damaged: bytes changed, cut out, doubled, or the end left away. */
function mutated(random: Random, text: string): string {
  if (random.below(4) !== 0) return text;
  const at = random.below(text.length);
  const length = random.below(20);
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + text.slice(at + length);
    case 2:
      return text.slice(0, at) + text.slice(at, at + length) + text.slice(at);
    default:
      return text.slice(0, at);
  }
}

/** When nothing is to come any more for what was sent: others were answered since, one after another. */
async function whenLate(): Promise<void> {
  await delay(1200);
  for (let asked = 0; asked < 3; asked++) await scenario.chat();
}

/** Sends one; what came back: a status, `closed`, or `waiting` for more of what we never send. */
async function send(text: string, late: Promise<void>): Promise<number | 'closed' | 'waiting'> {
  const connection = await openRaw(origin);
  try {
    await connection.write(Buffer.from(text, 'latin1'));
    const method = /^[A-Z]+/.exec(text)?.[0] ?? 'GET';
    const reply = await Promise.race([connection.reply({ to: method }), late]);
    return reply?.status ?? 'waiting';
  } catch (error) {
    const { message } = error as Error;
    // Anything else is an answer that is not HTTP.
    if (message.startsWith('closed before')) return 'closed';
    throw new Error(`${message}; asked ${JSON.stringify(text.slice(0, 2000))}`);
  } finally {
    connection.end();
  }
}

function processState() {
  const pid = scenario.stack.part('gateway').pid as number;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    pid,
    residentMb: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024,
    files: readdirSync(`/proc/${pid}/fd`).length,
  };
}

describe('random requests', () => {
  it('are answered or closed, and leave the gateway as it was', async () => {
    const random = randomSource(20_261_121);
    /** For so long, and until so many were sent. */
    const run = async (ms: number, count: number) => {
      const deadline = performance.now() + ms;
      const outcomes = new Map<number | string, number>();
      for (let sent = 0; sent < count || performance.now() < deadline; sent += 60) {
        const texts = Array.from({ length: 60 }, () => randomRequest(random));
        const late = whenLate();
        const answers = await Promise.all(texts.map((text) => send(text, late)));
        for (const [index, answer] of answers.entries()) {
          outcomes.set(answer, (outcomes.get(answer) ?? 0) + 1);
          const isFine = typeof answer === 'string' || knownStatuses.has(answer);
          expect(isFine, `${answer} for ${JSON.stringify(texts[index]?.slice(0, 2000))}`).toBe(
            true,
          );
          // Random input may be refused or meet a bad upstream; it is never a fault of ours.
          expect(answer, JSON.stringify(texts[index]?.slice(0, 3000))).not.toBe(500);
        }
      }
      return outcomes;
    };
    await run(forMs / 3, 60);
    const before = processState();
    const outcomes = await run(forMs, enough);
    const total = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
    // Most must get far enough to be worth their time.
    expect((outcomes.get(200) ?? 0) / total).toBeGreaterThan(0.1);
    // Those whose end was left away: the gateway waits for it.
    expect((outcomes.get('waiting') ?? 0) / total).toBeLessThan(0.25);

    await expect.poll(() => processState().files).toBeLessThan(before.files + 20);
    const after = processState();
    expect(after.pid).toBe(before.pid);
    expect(after.residentMb - before.residentMb).toBeLessThan(60);
    expect((await scenario.chat()).status).toBe(200);
    const faults = scenario.stack.part('gateway').stderr();
    expect(faults).not.toContain('left unhandled');
    expect(faults).not.toContain('left uncaught');
    expect(faults).not.toContain(scenario.stack.credentials.workspace_key);
  });
});
