import { gzipSync } from 'node:zlib';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  attributesOf,
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from '@sluice/otlp';
import { usage } from '@sluice/proto-stubs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** `POST /v1/otel/v1/traces` and `/logs`: what becomes of calls that others made. */
let h: Harness;
const written: usage.UsageRecord[] = [];
beforeAll(async () => {
  h = await startHarness({
    analytics: {},
    onUsage: (records) => {
      for (const bytes of records) written.push(fromBinary(usage.UsageRecordSchema, bytes));
    },
  });
});
beforeEach(() => written.splice(0));
afterAll(() => h.stop());

const traceId = '5b8efff798038103d269b633813fc60c';
const spanId = 'eee19b7ec3c1b174';
const startMs = Date.now() - 5_000;
const told = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-4o',
  'gen_ai.response.model': 'gpt-4o-2024-08-06',
  'gen_ai.response.finish_reasons': ['stop'],
  'gen_ai.usage.input_tokens': 1000,
  'gen_ai.usage.output_tokens': 500,
  'gen_ai.usage.cache_read.input_tokens': 200,
  'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"a secret"}]}]',
  'user.id': 'ada',
  'service.metadata.team': 'red',
};

interface SpanOver {
  readonly attributes?: Parameters<typeof attributesOf>[0];
  readonly spanId?: string;
  readonly startMs?: number;
  readonly status?: number;
}

function spanOf({ attributes, spanId: id = spanId, startMs: at = startMs, status }: SpanOver = {}) {
  return {
    traceId: Buffer.from(traceId, 'hex'),
    spanId: Buffer.from(id, 'hex'),
    parentSpanId: Buffer.from('00000000000000aa', 'hex'),
    name: 'chat gpt-4o',
    startTimeUnixNano: BigInt(at) * 1_000_000n,
    endTimeUnixNano: BigInt(at) * 1_000_000n + 250_000_000n,
    attributes: attributesOf(attributes ?? told),
    ...(status !== undefined && { status: { code: status } }),
  };
}

function exportOf(...spans: ReturnType<typeof spanOf>[]): Buffer {
  const request = create(ExportTraceServiceRequestSchema, {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'shop' }) },
        scopeSpans: [{ spans }],
      },
    ],
  });
  return Buffer.from(toBinary(ExportTraceServiceRequestSchema, request));
}

async function post(
  body: Buffer | object,
  over: { path?: string; key?: string; headers?: Record<string, string> } = {},
) {
  const isBytes = Buffer.isBuffer(body);
  const response = await fetch(
    `http://127.0.0.1:${h.service.httpPort}/v1/otel/v1/${over.path ?? 'traces'}`,
    {
      method: 'POST',
      headers: {
        'x-service-api-key': over.key ?? h.first.workspace_key,
        'content-type': isBytes ? 'application/x-protobuf' : 'application/json',
        ...over.headers,
      },
      body: isBytes ? new Uint8Array(body) : JSON.stringify(body),
    },
  );
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    bytes,
    json: () => JSON.parse(bytes.toString('utf8')),
    partial: () => fromBinary(ExportTraceServiceResponseSchema, bytes).partialSuccess,
  };
}

function jsonAttributes(name = (text: string) => text): object[] {
  return Object.entries(told).map(([key, value]) => ({
    key,
    value: Array.isArray(value)
      ? { [name('arrayValue')]: { values: [{ [name('stringValue')]: value[0] }] } }
      : typeof value === 'number'
        ? { [name('intValue')]: String(value) }
        : { [name('stringValue')]: value },
  }));
}

/** The same export as an exporter writes it in JSON; `snake` as other writers of messages do. */
function jsonExport(names: 'camel' | 'snake' = 'camel') {
  const name = (text: string) =>
    names === 'camel' ? text : text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    [name('resourceSpans')]: [
      {
        resource: {
          attributes: [{ key: 'service.name', value: { [name('stringValue')]: 'shop' } }],
        },
        [name('scopeSpans')]: [
          {
            spans: [
              {
                [name('traceId')]: traceId.toUpperCase(),
                [name('spanId')]: spanId,
                [name('parentSpanId')]: '00000000000000aa',
                name: 'chat gpt-4o',
                kind: 3,
                [name('startTimeUnixNano')]: `${startMs}000000`,
                [name('endTimeUnixNano')]: `${startMs + 250}000000`,
                aFieldOfTomorrow: {},
                attributes: jsonAttributes(name),
              },
            ],
          },
        ],
      },
    ],
  };
}

describe('spans of calls of models', () => {
  it.each([
    ['protobuf', () => exportOf(spanOf())],
    ['JSON', () => jsonExport()],
    ['JSON in the other spelling', () => jsonExport('snake')],
  ] as const)('become records, found, priced and without their texts: %s', async (_, body) => {
    const answer = await post(body());
    expect(answer.status, answer.bytes.toString()).toBe(200);
    expect(written).toHaveLength(1);
    expect(written[0]).toMatchObject({
      source: 'otel',
      endpoint: 'otel',
      organisationId: h.first.organisation_id,
      workspaceId: h.first.workspace_id,
      traceId,
      spanId,
      parentSpanId: '00000000000000aa',
      provider: 'openai',
      model: 'gpt-4o',
      responseModel: 'gpt-4o-2024-08-06',
      finishReason: 'stop',
      outcome: usage.Outcome.SUCCESS,
      createdAtMs: BigInt(startMs),
      latencyMs: 250,
      inputTokens: 1000n,
      cacheReadTokens: 200n,
      costKnown: true,
      // 800 × 2.5 + 200 × 1.25 + 500 × 10 USD a million.
      costNanoUsd: 7_250_000n,
      metadata: { _user: 'ada', team: 'red', service_name: 'shop' },
    });
    expect(JSON.stringify(Object.values(written[0] ?? {}).map(String))).not.toContain('a secret');
  });

  it('are one record however often they are sent, in either encoding, and another in another workspace', async () => {
    await post(exportOf(spanOf()));
    await post(jsonExport());
    const other = await createServiceKey(h, (await otherWorkspace()) as string);
    await post(exportOf(spanOf()), { key: other });
    const ids = written.map(({ id }) => Buffer.from(id).toString('hex'));
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
    // A UUIDv7 of the span's time: by it the ledger finds what it has.
    expect(Number.parseInt(ids[0]?.slice(0, 12) ?? '', 16)).toBe(startMs);
  });

  it.each([
    [
      'of the names before 1.37',
      {
        'gen_ai.system': 'az.ai.openai',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.usage.prompt_tokens': 10,
        'gen_ai.usage.completion_tokens': 5,
      },
      'azure-openai',
      10n,
    ],
    [
      'of a provider nobody knows',
      { 'gen_ai.provider.name': 'My Own', 'gen_ai.usage.input_tokens': 10 },
      'my own',
      10n,
    ],
    [
      'with counts that cannot be',
      { 'gen_ai.provider.name': 'openai', 'gen_ai.usage.input_tokens': -4 },
      'openai',
      0n,
    ],
  ] as const)('are taken %s', async (_, attributes, provider, inputTokens) => {
    expect((await post(exportOf(spanOf({ attributes })))).status).toBe(200);
    expect(written[0]).toMatchObject({ provider, inputTokens });
  });

  it('that consist of others are kept without tokens, which would be charged twice', async () => {
    await post(
      exportOf(spanOf({ attributes: { ...told, 'gen_ai.operation.name': 'invoke_agent' } })),
    );
    expect(written[0]).toMatchObject({ inputTokens: 0n, usageReported: false, costKnown: false });
  });

  it('that failed say so', async () => {
    await post(exportOf(spanOf({ status: 2 })));
    expect(written[0]).toMatchObject({ outcome: usage.Outcome.UPSTREAM_ERROR, statusCode: 500 });
  });

  it('are refused one by one, with the path of the first, and the others are kept', async () => {
    const answer = await post(
      exportOf(
        spanOf(),
        spanOf({ attributes: { 'http.request.method': 'GET' } }),
        spanOf({ spanId: 'eee19b' }),
        spanOf({ startMs: 0 }),
      ),
    );
    expect(answer.status).toBe(200);
    expect(written).toHaveLength(1);
    expect(answer.partial()).toMatchObject({
      rejectedSpans: 3n,
      errorMessage:
        'resourceSpans[0].scopeSpans[0].spans[1] tells of no call of a model, and is not kept',
    });
    const withOther = {
      resourceSpans: [
        ...Object.values(jsonExport()).flat(),
        { scopeSpans: [{ spans: [{ name: 'x' }] }] },
      ],
    };
    expect((await post(withOther)).json()).toEqual({
      partialSuccess: {
        rejectedSpans: '1',
        errorMessage:
          'resourceSpans[1].scopeSpans[0].spans[0] tells of no call of a model, and is not kept',
      },
    });
  });

  it('are taken of logs, where one tells a whole call', async () => {
    const log = (eventName: string) => ({
      timeUnixNano: `${startMs}000000`,
      eventName,
      traceId,
      spanId,
      attributes: jsonAttributes(),
    });
    const answer = await post(
      {
        resourceLogs: [
          {
            scopeLogs: [
              {
                logRecords: [
                  log('gen_ai.client.inference.operation.details'),
                  log('gen_ai.user.message'),
                ],
              },
            ],
          },
        ],
      },
      { path: 'logs' },
    );
    expect(answer.json()).toMatchObject({ partialSuccess: { rejectedLogRecords: '1' } });
    expect(written).toMatchObject([{ traceId, spanId, costNanoUsd: 7_250_000n }]);
  });
});

describe('an export', () => {
  const tooMany = () => {
    const spans = new BinaryWriter();
    for (let count = 0; count < 250_000; count++) spans.tag(2, WireType.LengthDelimited).uint32(0);
    const scopes = new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(spans.finish());
    return Buffer.from(
      new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(scopes.finish()).finish(),
    );
  };
  /** Lists within lists, each in a few bytes. */
  const tooDeep = () => {
    let value = new Uint8Array();
    for (let level = 0; level < 500; level++) {
      const list = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(value).finish();
      value = new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(list).finish();
    }
    const wrapped = [2, 9, 2, 2, 1].reduce(
      (inner, field) =>
        new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(inner).finish(),
      value,
    );
    return Buffer.from(wrapped);
  };

  it.each([
    ['without a key', exportOf(), { key: '' }, 401, 16],
    ['with a key of nobody', exportOf(), { key: 'sk-nobody' }, 401, 16],
    ['of another kind', exportOf(), { headers: { 'content-type': 'text/plain' } }, 400, 3],
    ['that is no message', Buffer.from('hello'), {}, 400, 3],
    ['that is no JSON', { resourceSpans: 'none' }, {}, 400, 3],
    [
      'with an id that is not in hex',
      { resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: 'not hex' }] }] }] },
      {},
      400,
      3,
    ],
    [
      'whose packing is broken',
      Buffer.from('hello'),
      { headers: { 'content-encoding': 'gzip' } },
      400,
      3,
    ],
    [
      'that is packed and far too long',
      gzipSync(Buffer.alloc(64 * 1024 * 1024)),
      { headers: { 'content-encoding': 'gzip' } },
      413,
      3,
    ],
    ['of too many messages', tooMany(), {}, 413, 3],
    ['of messages within messages without end', tooDeep(), {}, 413, 3],
  ] as const)('%s is refused as OTLP refuses', async (_, body, over, status, code) => {
    const answer = await post(body, over);
    expect([answer.status, answer.bytes.toString().length > 0]).toEqual([status, true]);
    if (answer.type.startsWith('application/x-protobuf'))
      expect([...answer.bytes.subarray(0, 2)]).toEqual([8, code]);
    else expect(answer.json()).toMatchObject({ code, message: expect.any(String) });
    expect(written).toEqual([]);
  });

  it('takes a key of a workspace with both scopes', async () => {
    const narrow = await createServiceKey(h, h.first.workspace_id, ['logs.write']);
    expect((await post(exportOf(spanOf()), { key: narrow })).status).toBe(403);
    expect((await post(exportOf(spanOf()), { key: h.first.admin_key })).status).toBe(403);
    expect(written).toEqual([]);
  });

  it('may be packed', async () => {
    const answer = await post(gzipSync(exportOf(spanOf())), {
      headers: { 'content-encoding': 'gzip' },
    });
    expect([answer.status, answer.bytes.length, written.length]).toEqual([200, 0, 1]);
  });
});

async function otherWorkspace(): Promise<string> {
  const answer = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Other' });
  return answer.body.id;
}
