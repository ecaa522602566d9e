import {
  bytes,
  eventually,
  json,
  type OtlpReceiver,
  type ReceivedSpan,
  sequence,
  sse,
  startOtlpReceiver,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatBody, chatReply, type Scenario, startScenario } from './scenario.ts';

/** One receiver of records as protobuf, one of contents as JSON. */
let scenario: Scenario;
let records: OtlpReceiver;
let contents: OtlpReceiver;
beforeAll(async () => {
  [records, contents] = await Promise.all([startOtlpReceiver(), startOtlpReceiver()]);
  scenario = await startScenario({
    promptLedger: true,
    environment: {
      gateway: {
        OTEL_PUSH_ENABLED: 'true',
        OTEL_ENDPOINT: records.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector,x-tenant=a',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_RESOURCE_ATTRIBUTES: 'team=platform',
        OTEL_QUEUE_BYTES_MAX: String(1024 * 1024),
        // The older spelling of each.
        EXPERIMENTAL_GEN_AI_OTEL_PUSH_ENABLED: 'true',
        EXPERIMENTAL_GEN_AI_OTEL_OTLP_ENDPOINT: contents.url,
        EXPERIMENTAL_GEN_AI_OTEL_OTLP_HEADERS: 'x-key=contents',
      },
    },
  });
});
afterAll(async () => {
  await scenario.stop();
  await Promise.all([records.close(), contents.close()]);
});

let calls = 0;
/** Sends with a trace of its own, and finds its spans at both receivers. */
async function spansOfCall(
  options: Parameters<Scenario['call']>[1],
  path = '/v1/chat/completions',
) {
  const traceId = (++calls).toString(16).padStart(32, '0');
  const traceparent = `00-${traceId}-00000000000000aa-01`;
  const response = await scenario.call(path, {
    ...options,
    headers: { traceparent, ...options?.headers },
  });
  await response.text();
  const find = (receiver: OtlpReceiver, count: number) =>
    eventually(() => {
      const found = receiver.spans.filter((span) => span.traceId === traceId);
      expect(found.length).toBeGreaterThanOrEqual(count);
      return found;
    });
  return { traceId, response, find };
}

const parsed = (span: ReceivedSpan | undefined, name: string) =>
  JSON.parse(String(span?.attributes[`gen_ai.${name}`]));

/** Reasons that the gateway's log gives of the receiver of contents. */
function said(words: string): unknown[] {
  return scenario.stack
    .part('gateway')
    .stderr()
    .split('\n')
    .filter((line) => line.includes(words) && line.includes(contents.url))
    .map((line) => JSON.parse(line).reason);
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(scenario.stack.gatewayMetricsUrl)).text();
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1]);
}

describe('spans of requests', () => {
  it('tell the record without a word of its texts, as the official definitions have it', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const { find, response } = await spansOfCall({
      body: { ...chatBody, messages: [{ role: 'user', content: 'a secret question' }] },
      headers: { baggage: 'team=red%20one', 'x-service-metadata': '{"_user":"ada"}' },
    });
    const [span] = await find(records, 1);
    expect(records.faults).toEqual([]);
    expect(span).toMatchObject({
      parentSpanId: '00000000000000aa',
      name: 'chat gpt-4o-mini',
      kind: 3,
      status: { code: 0 },
      scope: 'sluice.records',
      resource: { 'service.name': 'sluice-gateway', team: 'platform' },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.system': 'openai',
        'gen_ai.request.model': 'gpt-4o-mini',
        'gen_ai.response.model': 'gpt-4o-mini-2024-07-18',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 1000,
        'gen_ai.usage.output_tokens': 500,
        // 1000 × 0.15 + 500 × 0.6 USD a million.
        'service.cost.nano_usd': 450_000,
        'service.request.id': response.headers.get('x-service-request-id'),
        'service.workspace.slug': scenario.stack.credentials.workspace_slug,
        'service.metadata.team': 'red one',
        'service.metadata._user': 'ada',
      },
    });
    expect((span?.endMs ?? 0) - (span?.startMs ?? 0)).toBeGreaterThan(0);
    expect(JSON.stringify(span)).not.toContain('secret question');
    expect(records.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer collector',
      'x-tenant': 'a',
      'content-encoding': 'gzip',
      'content-type': 'application/x-protobuf',
    });
  });

  it('tell what was asked and answered, of streams and of any format of callers', async () => {
    scenario.upstream.handle(
      sse([
        'data: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}\n\n',
        'data: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\n',
        'data: [DONE]\n\n',
      ]),
    );
    const chat = await spansOfCall({
      body: {
        ...chatBody,
        stream: true,
        temperature: 0.5,
        max_tokens: 20,
        stop: ['END'],
        tools: [{ type: 'function', function: { name: 'weather', parameters: {} } }],
      },
    });
    const [ofChat] = await chat.find(contents, 1);
    expect(contents.faults).toEqual([]);
    expect(ofChat).toMatchObject({
      scope: 'custom.genai.instrumentation',
      attributes: {
        'gen_ai.request.stream': true,
        'gen_ai.request.temperature': 0.5,
        'gen_ai.request.max_tokens': 20,
        'gen_ai.request.stop_sequences': ['END'],
        'gen_ai.response.id': 'c-1',
      },
    });
    expect(parsed(ofChat, 'input.messages')).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'Hello' }] },
    ]);
    expect(parsed(ofChat, 'output.messages')).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'Hello' }], finish_reason: 'stop' },
    ]);
    expect(parsed(ofChat, 'tool.definitions')).toEqual([{ type: 'function', name: 'weather' }]);

    const toolCall = {
      id: 'call_1',
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
    };
    scenario.upstream.handle(
      json(200, {
        ...chatReply,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, tool_calls: [toolCall] },
            finish_reason: 'tool_calls',
          },
        ],
      }),
    );
    const messages = await spansOfCall(
      {
        body: {
          model: 'gpt-4o-mini',
          max_tokens: 9,
          system: 'Be brief.',
          messages: [{ role: 'user', content: 'Weather?' }],
        },
      },
      '/v1/messages',
    );
    const [ofMessages] = await messages.find(contents, 1);
    expect(parsed(ofMessages, 'system_instructions')).toEqual([
      { type: 'text', content: 'Be brief.' },
    ]);
    expect(parsed(ofMessages, 'output.messages')).toMatchObject([
      {
        parts: [{ type: 'tool_call', name: 'weather', arguments: { city: 'Rome' } }],
        finish_reason: 'tool_call',
      },
    ]);
    expect(ofMessages?.attributes['gen_ai.response.finish_reasons']).toEqual(['tool_call']);
    expect(contents.requests[0]?.headers).toMatchObject({
      'x-key': 'contents',
      'content-type': 'application/json',
    });
  });

  it('of retries and fallbacks share a trace, each with an id of its own, and the last has the answer', async () => {
    scenario.upstream.handle(
      sequence(json(500, { error: { message: 'no' } }), json(200, chatReply)),
    );
    const { find } = await spansOfCall({
      headers: {
        'x-service-span-id': '00000000000000bb',
        'x-service-config': JSON.stringify({ retry: { attempts: 1, on_status_codes: [500] } }),
      },
    });
    const [first, second] = (await find(contents, 2)).toSorted(
      (one, other) => one.startMs - other.startMs,
    );
    expect(first).toMatchObject({
      spanId: '00000000000000bb',
      status: { code: 2, message: '500' },
      attributes: { 'error.type': 'upstream.error' },
    });
    expect(first?.attributes).not.toHaveProperty('gen_ai.output.messages');
    expect(second).toMatchObject({ status: { code: 0 } });
    expect(second?.spanId).not.toBe(first?.spanId);
    expect(parsed(second, 'output.messages')[0].parts[0].content).toBe('Hi there');
  });

  it('of hooks that end after the answer hang below that of its attempt, at both receivers', async () => {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    scenario.upstream.handle(async ({ path }) => {
      if (!path.endsWith('/judge')) return json(200, chatReply);
      await isOver;
      return json(200, { verdict: false });
    });
    const judge = { 'default.webhook': { webhookURL: `${scenario.upstream.url}/judge` } };
    const { find } = await spansOfCall({
      headers: {
        'x-service-span-id': '00000000000000cc',
        'x-service-config': JSON.stringify({
          input_guardrails: [{ id: 'slow', async: true, deny: false, ...judge }],
        }),
      },
    });
    for (const receiver of [records, contents])
      expect((await find(receiver, 1)).map(({ name }) => name)).toEqual(['chat gpt-4o-mini']);
    end();
    for (const receiver of [records, contents]) {
      const [span, hook] = await find(receiver, 2);
      expect(hook).toMatchObject({
        name: 'service.guardrail.input',
        parentSpanId: '00000000000000cc',
        status: { code: 2 },
        attributes: { 'service.guardrail.id': 'slow', 'service.guardrail.async': true },
      });
      expect(hook?.spanId).not.toBe(span?.spanId);
    }
  });

  it('have their texts left out where a request, or the organisation, does not want them kept', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const { find } = await spansOfCall({ headers: { 'x-service-debug': 'false' } });
    const [span] = await find(contents, 1);
    expect(span?.attributes).toMatchObject({ 'gen_ai.usage.input_tokens': 1000 });
    expect(
      Object.keys(span?.attributes ?? {}).filter((name) =>
        /messages|instructions|gen_ai.request\.(?!model)/.test(name),
      ),
    ).toEqual([]);
  });
});

describe('what we tell', () => {
  const usage = {
    prompt_tokens: 1234,
    completion_tokens: 567,
    total_tokens: 1801,
    prompt_tokens_details: { cached_tokens: 1024, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 300 },
  };
  const sound = bytes(200, Buffer.from('ID3 sound'), { 'content-type': 'audio/mpeg' });
  const speech = { model: 'tts-1', input: 'Nineteen characters', voice: 'alloy' };
  it.each([
    ['tokens', '/v1/chat/completions', chatBody, json(200, { ...chatReply, usage })],
    ['characters', '/v1/audio/speech', speech, sound],
  ])(
    'is taken by our own ingestion, in both encodings, at the same cost to the nano-dollar: %s',
    async (_unit, path, body, reply) => {
      scenario.upstream.handle(reply);
      const { traceId, find } = await spansOfCall({ body }, path);
      const told = [await find(records, 1), await find(contents, 1)].flat();
      expect(told).toHaveLength(2);
      const costs = told.map(({ attributes }) => attributes['service.cost.nano_usd']);
      const { workspace_key } = scenario.stack.credentials;
      for (const receiver of [records, contents]) {
        const sent = receiver.requests.find(({ body }) =>
          body.includes(receiver === records ? Buffer.from(traceId, 'hex') : traceId),
        );
        const response = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/otel/v1/traces`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${workspace_key}`,
            'content-type': String(sent?.headers['content-type']),
          },
          body: new Uint8Array(sent?.body ?? []),
        });
        expect([response.status, await response.text()]).toEqual([
          200,
          receiver === records ? '' : '{}',
        ]);
      }
      const logs = await eventually(async () => {
        const { data } = await scenario.admin<{
          data: { metrics: { cost: number; source: string } }[];
        }>(
          'GET',
          `/logs?${new URLSearchParams({
            workspace_slug: scenario.stack.credentials.workspace_slug,
            trace_id: traceId,
            time_of_generation_min: new Date(Date.now() - 600_000).toISOString(),
            time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
          })}`,
        );
        // The same span, twice, is one.
        expect(data).toHaveLength(2);
        return data;
      });
      expect(new Set(costs).size).toBe(1);
      expect(Number(costs[0])).toBeGreaterThan(0);
      expect(
        logs.map(({ metrics }) => [metrics.source, Math.round(metrics.cost * 1e7)]).toSorted(),
      ).toEqual([
        ['gateway', costs[0]],
        ['otel', costs[0]],
      ]);
    },
  );
});

describe('a receiver', () => {
  it('that hangs, refuses or is away costs requests nothing, and what it does not get is counted', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const send = async (count: number) => {
      const startedAt = performance.now();
      for (let done = 0; done < count; done++) {
        const response = await scenario.chat();
        await response.text();
        expect(response.status).toBe(200);
      }
      return performance.now() - startedAt;
    };
    await send(20);
    const inTime = await send(40);
    const before = await scenario.ledgerTotal();
    records.fail('hang');
    contents.fail({ status: 500 });
    const whileAway = await send(40);
    // A receiver that a request waited for would cost it ten seconds.
    expect(whileAway).toBeLessThan(inTime * 5 + 1000);
    await eventually(async () => {
      expect(await metric('sluice_otlp_contents_dropped_spans')).toBeGreaterThanOrEqual(40);
    });
    expect(said('takes no spans')).toEqual(['it answers 500']);
    expect(await metric('sluice_otlp_records_queue_bytes')).toBeLessThanOrEqual(1024 * 1024);
    await eventually(async () =>
      expect(await scenario.ledgerTotal()).toBeGreaterThanOrEqual(before + 40),
    );
    contents.fail(undefined);
    const taken = await metric('sluice_otlp_contents_exported_spans');
    await send(1);
    await eventually(async () =>
      expect(await metric('sluice_otlp_contents_exported_spans')).toBe(taken + 1),
    );
    expect(said('takes spans again')).toHaveLength(1);
  });

  it('is told at SIGTERM what waits, and one that hangs does not hold the gateway up', async () => {
    contents.fail(undefined);
    const { traceId } = await spansOfCall({});
    const startedAt = performance.now();
    await scenario.stack.part('gateway').stop();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(contents.spans.some((span) => span.traceId === traceId)).toBe(true);
  });
});
