import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import {
  eventually,
  inTurns,
  json,
  type OtlpReceiver,
  sse,
  startOtlpReceiver,
} from '@sluice/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply, patientStore, type Scenario, startScenario } from './scenario.ts';

/**
 * Canaries in everything that a request and its answer hold, under every
 * combination of what decides on keeping: afterwards all files of the
 * installation are searched, and all that receivers of OpenTelemetry were told.
 */
let scenario: Scenario;
let records: OtlpReceiver;
let contents: OtlpReceiver;
beforeAll(async () => {
  [records, contents] = await Promise.all([startOtlpReceiver(), startOtlpReceiver()]);
  scenario = await startScenario({
    promptLedger: true,
    logStore: true,
    redis: true,
    environment: {
      gateway: {
        ...patientStore.gateway,
        ORGANISATION_HEADERS_TO_MASK: 'x-patient',
        OTEL_PUSH_ENABLED: 'true',
        OTEL_ENDPOINT: records.url,
        EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED: 'true',
        EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT: contents.url,
      },
    },
  });
});
afterAll(async () => {
  await scenario.stop();
  await Promise.all([records.close(), contents.close()]);
});

const settings = [
  { mode: 'full', enforced: false },
  { mode: 'full', enforced: true },
  { mode: 'metrics', enforced: false },
  { mode: 'metrics', enforced: true },
] as const;
/** Each of them without and with `x-service-debug: false`. */
const ways = settings.flatMap((logging) =>
  ([undefined, 'false'] as const).map((debug) => ({
    logging,
    debug,
    isKept: logging.mode === 'full' && (debug === undefined || logging.enforced),
  })),
);
const kinds = ['chat', 'stream', 'translated', 'embedding', 'refused', 'unreachable'] as const;
const sides = ['asked', 'answered', 'header', 'credential', 'named', 'masked'] as const;
type Kind = (typeof kinds)[number];
type Canaries = Readonly<Record<(typeof sides)[number], string>>;

/** Each kind is kept and not kept; in each way by `npm run test:long`. */
function isSent(kind: Kind, way: (typeof ways)[number]): boolean {
  const alike = ways.filter(({ isKept }) => isKept === way.isKept);
  return inTurns(alike, 3, kinds.indexOf(kind)).includes(way);
}

interface Sent {
  readonly name: string;
  readonly kind: Kind;
  readonly isKept: boolean;
  readonly canaries: Canaries;
  readonly requestId: string;
}
const sent: Sent[] = [];

async function send(kind: Kind, canaries: Canaries, debug: string | undefined): Promise<string> {
  const { asked, answered } = canaries;
  const messages = [{ role: 'user', content: asked }];
  const said = { role: 'assistant', content: answered };
  const choices = [{ index: 0, message: said, finish_reason: 'stop' }];
  const events = [
    `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"${answered.slice(0, 9)}"},"finish_reason":null}]}\n\n`,
    `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${answered.slice(9)}"},"finish_reason":"stop"}]}\n\n`,
    'data: [DONE]\n\n',
  ];
  scenario.upstream.handle(
    kind === 'stream'
      ? sse(events)
      : kind === 'translated'
        ? json(200, {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: 'claude',
            content: [{ type: 'text', text: answered }],
            stop_reason: 'end_turn',
            usage: { input_tokens: 1, output_tokens: 1 },
          })
        : kind === 'embedding'
          ? json(200, {
              object: 'list',
              model: 'text-embedding-3-small',
              data: [{ object: 'embedding', index: 0, embedding: [0.5], note: answered }],
              usage: { prompt_tokens: 1, total_tokens: 1 },
            })
          : kind === 'refused'
            ? json(400, { error: { message: answered, type: 'invalid_request_error' } })
            : json(200, { ...chatReply, choices }),
  );
  const response = await scenario.call(
    kind === 'embedding' ? '/v1/embeddings' : '/v1/chat/completions',
    {
      body:
        kind === 'embedding'
          ? { model: 'text-embedding-3-small', input: asked }
          : { model: 'gpt-4o-mini', messages, stream: kind === 'stream', max_tokens: 9 },
      host: kind === 'unreachable' ? 'http://127.0.0.1:9/v1' : `${scenario.upstream.url}/v1`,
      headers: {
        authorization: `Bearer ${canaries.credential}`,
        'x-custom': canaries.header,
        'x-named': canaries.named,
        'x-patient': canaries.masked,
        'x-service-sensitive-headers': 'X-Named',
        ...(kind === 'translated' && { 'x-service-provider': 'anthropic' }),
        ...(debug !== undefined && { 'x-service-debug': debug }),
      },
    },
  );
  await response.text();
  return response.headers.get('x-service-request-id') ?? '';
}

/** Without what a merge of the ledger takes away while it is looked at: in its place is what was merged. */
async function* filesBelow(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield path;
  }
}

/** Every file of the installation, with what all parts wrote to their logs. */
async function* everythingKept(): AsyncGenerator<[place: string, content: Buffer]> {
  const { dataDir } = scenario.stack;
  for await (const path of filesBelow(dataDir)) {
    const content = await readFile(path).catch(() => undefined);
    if (content !== undefined) yield [relative(dataDir, path), content];
  }
  for (const part of ['gateway', 'control-plane', 'data-service'] as const)
    yield [`log of ${part}`, Buffer.from(scenario.stack.part(part).stderr())];
  const metrics = await fetch(scenario.stack.gatewayMetricsUrl);
  yield ['metrics', Buffer.from(await metrics.text())];
  yield* everythingShared();
  for (const { body } of records.requests) yield ['spans of records', body];
  for (const { body } of contents.requests) yield [inSpans, body];
}

/** Every key of the shared store, with its value as Redis itself would move it. */
async function* everythingShared(): AsyncGenerator<[place: string, content: Buffer]> {
  const client = new Redis(scenario.stack.redis?.url ?? '');
  try {
    for await (const keys of client.scanStream({ count: 1000 }) as AsyncIterable<string[]>)
      for (const key of keys) {
        yield ['Redis', Buffer.from(key)];
        // Short texts stand in a dump as they are, long ones may be compressed.
        yield ['Redis', (await client.dumpBuffer(key)) ?? Buffer.alloc(0)];
        const isText = (await client.type(key)) === 'string';
        if (isText) yield ['Redis', (await client.getBuffer(key)) ?? Buffer.alloc(0)];
      }
  } finally {
    client.disconnect();
  }
}

const inSpans = 'spans with content';

async function metric(name: string): Promise<number> {
  const text = await (await fetch(scenario.stack.gatewayMetricsUrl)).text();
  return Number(new RegExp(`^${name}(?:{[^}]*})? (.+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

/** What may be found of a request, where the store keeps it. */
function mayBeFound({ kind, isKept }: Sent, side: keyof Canaries): boolean {
  if (!isKept || side === 'credential' || side === 'named' || side === 'masked') return false;
  return side !== 'answered' || (kind !== 'embedding' && kind !== 'unreachable');
}

/** What spans tell of it: messages, and no headers. */
function mayBeTold(request: Sent, side: keyof Canaries): boolean {
  if (side === 'header' || request.kind === 'embedding') return false;
  return mayBeFound(request, side) && (side === 'asked' || request.kind !== 'refused');
}

describe('the content of requests', () => {
  it('is kept where, and only where, the table allows it', async () => {
    for (const logging of settings) {
      await scenario.admin('PUT', '/admin/organisation/settings', { request_logging: logging });
      for (const way of ways.filter((each) => each.logging === logging))
        for (const kind of kinds.filter((each) => isSent(each, way))) {
          const { debug, isKept } = way;
          const name = `${kind}, ${logging.mode}, enforced ${logging.enforced}, debug ${debug}`;
          const canaries = Object.fromEntries(
            sides.map((side) => [side, `canary-${randomBytes(12).toString('hex')}`]),
          ) as Canaries;
          const requestId = await send(kind, canaries, debug);
          sent.push({ name, kind, isKept, canaries, requestId });
        }
    }
    const kept = sent.filter(({ isKept }) => isKept).length;
    await eventually(async () => {
      expect(await metric('sluice_content_stored_logs')).toBe(kept);
      expect(await metric('sluice_content_spool_bytes')).toBe(0);
    });
    expect(await metric('sluice_content_dropped_logs')).toBe(0);
    for (const flow of ['records', 'contents'])
      await eventually(async () => {
        const exported = await metric(`sluice_otlp_${flow}_exported_spans`);
        expect([flow, exported]).toEqual([flow, sent.length]);
      });

    const found = new Map<string, string[]>();
    const searched = new Set<string>();
    for await (const [place, content] of everythingKept()) {
      searched.add(place);
      const text = content.toString('latin1');
      for (const match of text.match(/canary-[0-9a-f]{24}/g) ?? [])
        found.set(match, [...(found.get(match) ?? []), place]);
    }
    expect([...searched]).toEqual(expect.arrayContaining(['Redis', 'metrics', 'spans of records']));
    for (const request of sent)
      for (const side of sides) {
        const places = new Set(found.get(request.canaries[side]) ?? []);
        const inStore = [...places].filter((place) => place.startsWith('logs/30/'));
        expect([
          request.name,
          side,
          [...places].filter((place) => !inStore.includes(place)),
        ]).toEqual([request.name, side, mayBeTold(request, side) ? [inSpans] : []]);
        expect([request.name, side, inStore.length > 0]).toEqual([
          request.name,
          side,
          mayBeFound(request, side),
        ]);
      }
  });

  it('is shown with its log and its request, and what is not says why', async () => {
    for (const { name, kind, isKept, canaries, requestId } of sent) {
      const request = await eventually(() =>
        scenario.admin<{ contents: Shown[] }>('GET', `/requests/${requestId}`),
      );
      const [shown] = request.contents;
      expect([name, shown?.content]).toEqual([
        name,
        !isKept ? 'not-kept' : kind === 'embedding' ? 'partly-shown' : 'shown',
      ]);
      const log = await scenario.admin<Log>('GET', `/logs/${shown?.log_id}`);
      expect([log.content, log.log_format]).toEqual([shown?.content, isKept ? 'v1' : undefined]);
      expect(JSON.stringify(log).includes(canaries.asked)).toBe(isKept);
      if (!isKept) continue;
      expect(log.request.headers?.authorization).toBe('[masked]');
      expect(log.request.headers?.['x-named']).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
      expect(log.request.headers?.['x-patient']).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
      expect(log.request.serviceHeaders['x-service-api-key']).toBe('[masked]');
      expect(JSON.stringify(shown)).toContain(canaries.header);
      if (kind === 'embedding') expect(log.response.body).toBeUndefined();
      if (kind === 'unreachable')
        expect(log.response.body).toMatchObject({ error: { code: expect.any(String) } });
      // The events of a stream are told as the answer that they add up to.
      if (kind === 'stream' || kind === 'translated')
        expect(log.response.body).toMatchObject({
          choices: [{ message: { content: canaries.answered } }],
        });
      expect([
        kind,
        log.transformedRequest !== undefined,
        log.originalResponse !== undefined,
      ]).toEqual([kind, kind === 'translated', kind === 'translated']);
    }
  });

  it('is in an export where its log shows it, and in none of who may not look into logs', async () => {
    const { workspace_id, workspace_key } = scenario.stack.credentials;
    const exportWith = async (scopes: string[]) => {
      const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
        name: scopes.join(),
        workspace_id,
        scopes,
      });
      const call = async (method: string, path: string, body?: object) => {
        const answer = await scenario.call(`/v1/logs/exports${path}`, {
          method,
          host: null,
          // What is in it is decided by who started it, not by who fetches it.
          key: method === 'GET' ? workspace_key : key,
          ...(body !== undefined && { body }),
        });
        const text = await answer.text();
        expect(answer.status, text).toBe(200);
        return JSON.parse(text) as { id: string; status: string; signed_url: string };
      };
      const asked = {
        filters: {},
        requested_data: ['id', 'request', 'response', 'metadata'],
        all: true,
      };
      const { id } = await call('POST', '', asked);
      await call('POST', `/${id}/start`, {});
      await eventually(async () =>
        expect(await call('GET', `/${id}`)).toMatchObject({ status: 'success' }),
      );
      const { signed_url } = await call('GET', `/${id}/download`);
      return (await fetch(signed_url)).text();
    };
    const [seen, unseen] = await Promise.all([
      exportWith(['logs.export', 'logs.view']),
      exportWith(['logs.export']),
    ]);
    expect(seen).toContain('canary-');
    expect(unseen.split('\n').length).toBe(seen.split('\n').length);
    expect(unseen).not.toContain('canary-');
    for (const request of sent)
      for (const side of sides)
        expect([request.name, side, seen.includes(request.canaries[side])]).toEqual([
          request.name,
          side,
          mayBeFound(request, side),
        ]);
  });

  it('has identifiers in place of what was taken out of the request and put back into the answer', async () => {
    const name = randomBytes(8).toString('hex');
    const address = `restored.${name}@example.com`;
    const said = 'Written to {{EMAIL_ADDRESS_1}}.';
    const meant = `Written to ${address}.`;
    await scenario.admin('PUT', '/admin/organisation/settings', {
      request_logging: { mode: 'full' },
    });
    const told = (message: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: message, finish_reason }] })}\n\n`;
    const ask = async (stream: boolean) => {
      const message = { role: 'assistant', content: said };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      scenario.upstream.handle(
        stream
          ? sse([
              told({ content: said.slice(0, 20) }, null),
              told({ content: said.slice(20) }, 'stop'),
              'data: [DONE]\n\n',
            ])
          : json(200, { ...chatReply, choices }),
      );
      const config = {
        provider: 'openai',
        api_key: 'sk-upstream',
        custom_host: `${scenario.upstream.url}/v1`,
        cache: { mode: 'simple' },
        input_guardrails: [{ id: 'restores', 'default.pii': { redact: true, restore: true } }],
      };
      const response = await scenario.chat({
        body: {
          model: 'gpt-4o-mini',
          stream,
          messages: [{ role: 'user', content: `Write to ${address}, ${stream}.` }],
        },
        headers: { 'x-service-config': JSON.stringify(config) },
      });
      const { headers } = response;
      return { text: await response.text(), id: headers.get('x-service-request-id'), headers };
    };
    const stored = await metric('sluice_content_stored_logs');
    const asked = [await ask(false), await ask(true), await ask(false), await ask(true)];
    for (const [at, { text, headers }] of asked.entries()) {
      const pieces = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece);
      expect([at, pieces.join('')]).toEqual([at, meant]);
      expect([at, headers.get('x-service-cache-status')]).toEqual([at, at < 2 ? 'MISS' : 'HIT']);
    }
    await eventually(async () => {
      expect(await metric('sluice_content_stored_logs')).toBe(stored + asked.length);
      expect(await metric('sluice_content_spool_bytes')).toBe(0);
    });
    for (const { id } of asked) {
      const request = await eventually(() =>
        scenario.admin<{ contents: Shown[] }>('GET', `/requests/${id}`),
      );
      const [shown] = request.contents;
      expect(shown?.content).toBe('shown');
      const log = JSON.stringify(await scenario.admin<Log>('GET', `/logs/${shown?.log_id}`));
      expect(log).toContain('Write to {{EMAIL_ADDRESS_1}}');
      expect(log).toContain('{{EMAIL_ADDRESS_1}}.');
      expect(log).not.toContain(name);
    }
    const places: string[] = [];
    for await (const [place, content] of everythingKept())
      if (content.includes(name)) places.push(place);
    expect(places).toEqual([]);
  });

  it('is hidden from a key that may call models and not look into logs', async () => {
    const { workspace_id } = scenario.stack.credentials;
    const made = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'calls only',
      workspace_id,
      scopes: ['completions.write'],
    });
    await scenario.admin('PUT', '/admin/organisation/settings', {
      request_logging: { mode: 'full' },
    });
    const response = await scenario.chat({ key: made.key });
    await response.text();
    const read = (path: string) =>
      scenario.call(`/v1${path}`, { method: 'GET', host: null, key: made.key });
    const request = await eventually(async () => {
      const answer = await read(`/requests/${response.headers.get('x-service-request-id')}`);
      expect(answer.status).toBe(200);
      return (await answer.json()) as { contents: Shown[] };
    });
    expect(request.contents.map(({ log_id: _, ...shown }) => shown)).toEqual([
      { content: 'hidden' },
    ]);
    const of = sent.find(({ isKept }) => isKept);
    expect((await read(`/requests/${of?.requestId}`)).status).toBe(404);
  });

  it('outlives a gateway that is killed, and waits for a store that is away', async () => {
    const { stack } = scenario;
    const stored = await metric('sluice_content_stored_logs');
    expect(stored).toBeGreaterThan(0);
    const folder = join(stack.dataDir, 'gateway', 'content');
    const marker = `canary-${randomBytes(12).toString('hex')}`;
    const response = await scenario.chat({
      body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: marker }] },
    });
    await response.text();
    // Before it is asked to end it has said that it wrote everything.
    await stack.part('gateway').stop();
    await stack.part('gateway').start();
    await eventually(async () => expect(await readdir(folder)).toEqual([]));
    const request = await eventually(() =>
      scenario.admin<{ contents: Shown[] }>(
        'GET',
        `/requests/${response.headers.get('x-service-request-id')}`,
      ),
    );
    expect(JSON.stringify(request.contents)).toContain(marker);
  });
});

interface Shown {
  log_id: string;
  content: string;
}
interface Log {
  content: string;
  log_format?: string;
  request: {
    headers?: Record<string, string>;
    serviceHeaders: Record<string, string>;
    body?: unknown;
  };
  response: { body?: unknown };
  transformedRequest?: unknown;
  originalResponse?: unknown;
}
