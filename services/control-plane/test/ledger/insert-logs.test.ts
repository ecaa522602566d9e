import { fromBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createServiceKey } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** `POST /logs`: what becomes of somebody's own logs. */
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

const log = (over: { request?: object; response?: object; metadata?: object } = {}) => ({
  request: {
    url: 'https://user:secret@api.openai.com/v1/chat/completions?key=secret#x',
    body: { model: 'gpt-4o' },
    provider: 'openai',
    ...over.request,
  },
  response: {
    body: {
      model: 'gpt-4o-2024-08-06',
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 500,
        prompt_tokens_details: { cached_tokens: 200 },
      },
    },
    response_time: 120,
    ...over.response,
  },
  ...(over.metadata !== undefined && { metadata: over.metadata }),
});

const send = (body: object, key: string = h.first.workspace_key) => h.as(key).post('/logs', body);

it('becomes a record of its own source, priced, and keeps no secrets of its address', async () => {
  const answer = await send(log()).expect(200);
  expect(answer.body).toMatchObject({ status: 'success', log_ids: [expect.any(String)] });
  const [record] = written;
  expect(record).toMatchObject({
    source: 'custom',
    method: 'POST',
    requestUrl: 'https://api.openai.com/v1/chat/completions',
    provider: 'openai',
    model: 'gpt-4o',
    responseModel: 'gpt-4o-2024-08-06',
    statusCode: 200,
    outcome: usage.Outcome.SUCCESS,
    inputTokens: 1000n,
    outputTokens: 500n,
    cacheReadTokens: 200n,
    costKnown: true,
    attemptMs: 120,
    organisationId: h.first.organisation_id,
    workspaceId: h.first.workspace_id,
    workspaceSlug: h.first.workspace_slug,
    replicaId: '',
  });
  expect(record?.costNanoUsd).toBeGreaterThan(0n);
  expect(Buffer.from(record?.id ?? []).toString('hex')).toBe(
    String(answer.body.log_ids[0]).replaceAll('-', ''),
  );
});

it.each([
  ['grpc://user:secret@host:50051/service?key=secret', 'grpc://host:50051/service'],
  ['postgres://user:secret@host/data', 'postgres://host/data'],
  ['//user:secret@host/path#secret', '//host/path'],
  ['user:secret@host/path', 'host/path'],
  ['mcp://server/tools/a@b?secret', 'mcp://server/tools/a@b'],
  ['/v1/@saved/chat?key=secret', '/v1/@saved/chat'],
])('keeps no secrets of %s', async (url, kept) => {
  await send(log({ request: { url } })).expect(200);
  expect(written).toMatchObject([{ requestUrl: kept }]);
});

it('takes both spellings of what places it in a trace, and keeps the rest as metadata', async () => {
  const both = [
    { trace_id: 't', span_id: 's', span_name: 'n', parent_span_id: 'p', team: 'a', n: 7 },
    { traceId: 't', spanId: 's', spanName: 'n', parentSpanId: 'p', team: 'a', n: 7 },
  ];
  await send(both.map((metadata) => log({ metadata }))).expect(200);
  expect(written.length).toBe(2);
  for (const record of written)
    expect(record).toMatchObject({
      traceId: 't',
      spanId: 's',
      spanName: 'n',
      parentSpanId: 'p',
      metadata: { team: 'a', n: '7' },
    });
});

it('counts the tokens of Anthropic’s caches among the input, and a failure as one', async () => {
  const tokens = {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 20,
  };
  await send(log({ response: { status: 529, body: { usage: tokens } } })).expect(200);
  expect(written).toMatchObject([
    {
      inputTokens: 130n,
      cacheReadTokens: 100n,
      cacheWriteTokens: 20n,
      statusCode: 529,
      errorCode: 'upstream.error',
    },
  ]);
});

it.each([
  ['body[1].request.url', [log(), log({ request: { url: '' } })]],
  ['body[0].response.status', [log({ response: { status: 'good', body: {} } })]],
  ['body.metadata.trace_id', log({ metadata: { trace_id: 'x'.repeat(513) } })],
])('is refused with the path of the fault: %s', async (field, body) => {
  const answer = await send(body);
  expect(answer.status).toBe(400);
  expect(answer.body.data.field).toBe(field);
  expect(written).toEqual([]);
});

it('takes 1,000 at once and no more', async () => {
  const short = { request: { url: '/v1/x', body: {} }, response: { body: {} } };
  await send(Array.from({ length: 1000 }, () => short)).expect(200);
  expect(new Set(written.map(({ id }) => Buffer.from(id).toString('hex'))).size).toBe(1000);
  await send(Array.from({ length: 1001 }, () => short)).expect(400);
  await send([]).expect(400);
});

it('takes both scopes', async () => {
  for (const scope of ['logs.write', 'completions.write']) {
    const key = await createServiceKey(h, h.first.workspace_id, [scope]);
    await send(log(), key).expect(403);
  }
});
