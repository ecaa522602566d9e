import { type AddressInfo, createServer, type Socket } from 'node:net';
import { bytes, eventually, json, slowHeaders, sse, type UpstreamReply } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { awsEvent, awsStreamHeaders } from './aws-frame.ts';
import { type Asked, type Lab, type RecordView, startLab, type Trial } from './lab.ts';
import { chatReply } from './scenario.ts';
import {
  anthropicEvent,
  anthropicEvents,
  anthropicReplyBody,
  openAiError,
  openAiEvents,
} from './vendor-replies.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.stop());

async function inTrial(work: (trial: Trial) => Promise<void>): Promise<void> {
  const trial = lab.trial();
  try {
    await work(trial);
  } finally {
    await trial.close();
  }
}

const prompt = 'What are the main differences between optimistic and pessimistic locking? ';
const body = {
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: prompt.repeat(20) }],
  max_tokens: 1000,
};
/** Of the prompt above, by its vendor's own tokenizer. */
const promptTokens = 249;
const streamed = { ...body, stream: true };

const { usage: _, ...withoutUsage } = chatReply;
const replyWith = (usage: object) => json(200, { ...chatReply, usage });
const imagesBeyondAll = {
  prompt_tokens: 10,
  completion_tokens: 5,
  prompt_tokens_details: { image_tokens: 11 },
};
const bedrock = {
  provider: 'bedrock',
  aws_region: 'us-east-1',
  aws_access_key_id: 'AKIDEXAMPLE',
  aws_secret_access_key: 'secret',
};
const said = 'Optimistic locking checks at the end. '.repeat(40);
/** What was said, in tokens. */
const saidTokens = 40 * 7;
const saying = (content: string) =>
  json(200, {
    ...withoutUsage,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  });
const words = said.split(/(?<= )/);
const wordEvents = openAiEvents(...words);
const withoutLastCount = wordEvents.filter((event) => !event.includes('"usage"'));

/** What is billed beside what is reported; null = nothing is estimated. */
interface Billed extends RecordView {
  units: Record<string, number>;
  images: number;
  /** What was used without a price. */
  unpriced: string;
  estimate: { tokens: [number, number]; costNanoUsd: number } | null;
  isImplausible: boolean;
  /** A stream was asked for. */
  stream: boolean;
}

function billedOf({ records, rawRecords }: Asked): Billed {
  const [view] = records;
  const [raw] = rawRecords;
  if (view === undefined || raw === undefined) throw new Error('no record came');
  const tokens: [number, number] = [Number(raw.inputTokens), Number(raw.outputTokens)];
  const costNanoUsd = raw.costKnown ? Number(raw.costNanoUsd) : 0;
  const estimate = raw.usageEstimated ? { tokens, costNanoUsd } : null;
  const units = Object.fromEntries(Object.entries(raw.units).map(([name, n]) => [name, Number(n)]));
  const { usageImplausible: isImplausible, unpricedUnits: unpriced, stream } = raw;
  const images = Number(raw.images);
  return { ...view, estimate, images, isImplausible, stream, units, unpriced };
}

/** One attempt at one upstream. */
async function billOf(
  reply: UpstreamReply,
  call: object = { body },
  target: object = {},
): Promise<Billed> {
  let record: Billed | undefined;
  await inTrial(async (trial) => {
    const upstream = await trial.upstream('vendor', reply);
    record = billedOf(await trial.ask({ config: upstream.target(target), records: 1, ...call }));
  });
  if (record === undefined) throw new Error('no record came');
  return record;
}

function near(count: number | undefined, expected: number): void {
  expect(count).toBeGreaterThan(expected * 0.6);
  expect(count).toBeLessThan(expected * 1.7);
}

// Side by side: each has an upstream of its own, and waits for its records.
describe.concurrent('an attempt is billed', () => {
  it('by what its provider counted, and an explicit zero is zero', async () => {
    expect(
      await billOf(replyWith({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })),
    ).toMatchObject({ tokens: [0, 0], costNanoUsd: 0, estimate: null });
  });

  it.each([
    ['a reply without usage', saying(said), body],
    ['a stream without usage', sse(withoutLastCount), streamed],
  ])('by what was sent and said: %s', async (_name, reply, asked) => {
    const record = await billOf(reply, { body: asked });
    expect(record).toMatchObject({ outcome: 'SUCCESS', tokens: null });
    near(record.estimate?.tokens[0], promptTokens);
    near(record.estimate?.tokens[1], saidTokens);
    expect(record.estimate?.costNanoUsd).toBeGreaterThan(0);
    // Nobody was allowed to say more.
    const limited = await billOf(reply, { body: { ...asked, max_tokens: 20 } });
    expect(limited.estimate?.tokens[1]).toBe(20);
  });

  it('by what was said and by the searches that it shows, where neither is counted', async () => {
    const search = { type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'a' } };
    const message = { type: 'message', content: [{ type: 'output_text', text: said }] };
    const answer = { id: 'resp_1', object: 'response', model: 'gpt-5', output: [search, message] };
    const cut = [
      anthropicEvent({ type: 'response.created', response: { ...answer, output: [] } }),
      anthropicEvent({ type: 'response.output_item.done', output_index: 0, item: search }),
      ...words.map((delta) => anthropicEvent({ type: 'response.output_text.delta', delta })),
    ];
    const end = anthropicEvent({ type: 'response.completed', response: answer });
    const asked = { model: 'gpt-5', input: prompt.repeat(20), tools: [{ type: 'web_search' }] };
    for (const [reply, stream] of [
      [json(200, answer), false],
      [sse([...cut, end]), true],
      [sse(cut), true],
    ] as const) {
      const call = { path: '/v1/responses', body: { ...asked, stream } };
      const { estimate } = await billOf(reply, call);
      near(estimate?.tokens[1], saidTokens);
      const [input = 0, output = 0] = estimate?.tokens ?? [];
      // A cent a search, beside 1.25 and 10 dollars a million.
      expect(estimate?.costNanoUsd).toBe(input * 1250 + output * 10_000 + 10_000_000);
    }
  });

  it('by what was said also where that is little, or calls a tool', async () => {
    const call = (over: object) => ({ index: 0, ...over });
    const args = JSON.stringify({ text: said });
    const pieces = args.match(/.{1,6}/g) ?? [];
    const events = (...deltas: object[]) =>
      sse([
        ...deltas.map(
          (delta) =>
            `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`,
        ),
        'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
        'data: [DONE]\n\n',
      ]);
    const short = 'Optimistic locking checks at the end, and pessimistic locking before.';
    const little = await billOf(events({ content: short }), { body: streamed });
    near(little.estimate?.tokens[1], short.length / 4);
    const calling = await billOf(
      events(
        {
          tool_calls: [
            call({ id: 'call_1', type: 'function', function: { name: 'say', arguments: '' } }),
          ],
        },
        ...pieces.map((piece) => ({ tool_calls: [call({ function: { arguments: piece } })] })),
      ),
      { body: streamed },
    );
    near(calling.estimate?.tokens[1], args.length / 4);
  });

  const message = { model: 'claude-sonnet-4-5', max_tokens: 1000, stream: true };
  const anthropic = { provider: 'anthropic' };
  const saidByClaude = anthropicEvents(...words);

  it.each(['/v1/messages', '/v1/chat/completions'])(
    'by what was said where usage was told before it: %s',
    async (path) => {
      const events = saidByClaude.map((event) =>
        event.replace(/("stop_reason":"end_turn".*?\}),"usage":\{[^}]*\}/, '$1'),
      );
      expect(events.join('').match(/"usage"/g)).toHaveLength(1);
      const asked = { body: { ...body, ...message }, path };
      const record = await billOf(sse(events), asked, anthropic);
      expect(record.estimate?.tokens[0]).toBe(1000);
      near(record.estimate?.tokens[1], saidTokens * 1.2);
    },
  );

  it('by what was said where its guardrail ends it in the middle', async () => {
    const bad = [...words.slice(0, 100), 'forbidden ', ...words];
    const record = await billOf(
      sse(anthropicEvents(...bad), { delayMs: 3 }),
      { body: { ...body, ...message }, path: '/v1/messages' },
      {
        ...anthropic,
        output_guardrails: [
          {
            deny: true,
            stream_mode: 'sentence',
            hold_chars: 64,
            'default.regexMatch': { rule: 'forbidden', not: true },
          },
        ],
      },
    );
    expect(record).toMatchObject({
      outcome: 'DENIED',
      estimate: { tokens: [1000, expect.any(Number)] },
    });
    expect(record.estimate?.tokens[1]).toBeGreaterThan(100);
  });

  it.each(['/v1/responses', '/v1/chat/completions'])(
    'by what a response counted that failed: %s',
    async (path) => {
      const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
      const response = { id: 'resp_1', object: 'response', model: 'gpt-5.5', output: [], usage };
      const events = [
        { type: 'response.created', response: { ...response, usage: null } },
        {
          type: 'response.output_text.delta',
          item_id: 'm',
          output_index: 0,
          content_index: 0,
          delta: 'Hello',
        },
        {
          type: 'response.failed',
          response: {
            ...response,
            status: 'failed',
            error: { code: 'server_error', message: 'no' },
          },
        },
      ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      const asked = { ...streamed, model: 'gpt-5.5', input: 'Hi', messages: undefined };
      const chat = {
        ...streamed,
        model: 'gpt-5.5',
        max_tokens: undefined,
        max_completion_tokens: 100,
      };
      const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
      const record = await billOf(sse(events), {
        path,
        body: path === '/v1/responses' ? asked : { ...chat, tools, reasoning_effort: 'low' },
      });
      expect(record).toMatchObject({ outcome: 'PARTIAL', tokens: [100, 20], estimate: null });
    },
  );

  it('by what its provider counted where the config asks for it, unseen by the caller', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstreamThat('vendor', ({ body: sent }) => {
        const asks = (
          JSON.parse(sent.toString()) as { stream_options?: { include_usage?: boolean } }
        ).stream_options?.include_usage;
        return sse(asks === true ? wordEvents : withoutLastCount, { chunking: [700, 3, 90] });
      });
      const config = upstream.target({ ask_stream_usage: true });
      const asked = await trial.ask({ config, records: 1, body: streamed });
      expect(asked.records).toMatchObject([{ tokens: [1000, 500], costNanoUsd: 450_000 }]);
      expect(asked.answer.text).toBe(withoutLastCount.join(''));
      const own = await trial.ask({
        config,
        records: 1,
        body: { ...streamed, stream_options: { include_usage: true } },
      });
      expect(own.answer.text).toBe(wordEvents.join(''));
    }));

  it.each([
    ['of chat completions', sse(wordEvents, { cutAfter: 101 }), {}, 100],
    [
      'that told of its prompt first',
      sse(anthropicEvents(...words), { cutAfter: 102 }),
      { provider: 'anthropic', override_params: { model: 'claude-sonnet-4-5' } },
      100,
    ],
  ])('by the prompt and what was seen of a cut stream %s', async (_name, reply, target, seen) => {
    const record = await billOf(reply, { body: streamed }, target);
    expect(record.outcome).toBe('PARTIAL');
    const [input, output] = record.estimate?.tokens ?? [];
    near(output, seen);
    if ('provider' in target) expect(input).toBe(1000);
    else near(input, promptTokens);
  });

  it.each([
    ['is cancelled, and counts what was seen', {}, false],
    ['is read on where the config says so, and counts as told', { read_on: true }, true],
  ])('of a caller who left %s', (_name, options, isRead) =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('paced', sse(wordEvents, { delayMs: 5 }));
      const target = { ...options, ...upstream.target(), custom_host: `${upstream.url}/v1` };
      const leave = new AbortController();
      const response = await fetch(`${lab.scenario.stack.gatewayUrls[0]}/v1/chat/completions`, {
        method: 'POST',
        signal: leave.signal,
        headers: {
          'content-type': 'application/json',
          'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
          'x-service-config': JSON.stringify(target),
        },
        body: JSON.stringify({ ...streamed, stream_options: { include_usage: true } }),
      });
      const reader = response.body?.getReader();
      for (let seen = 0; seen < 20_000; ) seen += (await reader?.read())?.value?.length ?? 20_000;
      leave.abort();
      const id = response.headers.get('x-service-request-id') ?? '';
      const [record] = await lab.records.of(id, 1);
      expect(record).toMatchObject({ errorCode: 'request.aborted', usageEstimated: !isRead });
      if (isRead) expect(record).toMatchObject({ inputTokens: 1000n, outputTokens: 500n });
      else near(Number(record?.outputTokens), 20_000 / (wordEvents[5]?.length ?? 1));
      expect(upstream.requests[0]?.aborted).toBe(!isRead);
    }),
  );

  it.each([
    ['small', 10],
    ['large', 200_000],
  ])(
    'of a caller who left before a %s answer began, read on where the config says so',
    (_name, length) =>
      inTrial(async (trial) => {
        const reply = {
          ...anthropicReplyBody,
          content: [{ type: 'text', text: 'x'.repeat(length) }],
        };
        const upstream = await trial.upstream('slow', slowHeaders(500, json(200, reply)));
        const target = {
          provider: 'anthropic',
          api_key: 'sk-own',
          custom_host: `${upstream.url}/v1`,
          read_on: true,
        };
        const traceId = crypto.randomUUID();
        const leave = new AbortController();
        const answer = fetch(`${lab.scenario.stack.gatewayUrls[0]}/v1/chat/completions`, {
          method: 'POST',
          signal: leave.signal,
          headers: {
            'content-type': 'application/json',
            'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
            'x-service-config': JSON.stringify(target),
            'x-service-trace-id': traceId,
          },
          body: JSON.stringify({ ...body, model: 'claude-sonnet-4-5' }),
        });
        await eventually(() => upstream.requests.length === 1);
        leave.abort();
        await expect(answer).rejects.toThrow();
        await eventually(() =>
          expect(
            [...lab.records.all()].filter((record) => record.traceId === traceId),
          ).toMatchObject([
            {
              errorCode: 'request.aborted',
              usageEstimated: false,
              inputTokens: 1000n,
              outputTokens: 500n,
            },
          ]),
        );
      }),
  );

  it('by the prompt when it took too long', async () => {
    const record = await billOf(slowHeaders(3000, saying(said)), {
      body,
      headers: { 'x-service-request-timeout': '200' },
    });
    expect(record).toMatchObject({ code: 'upstream.timeout', tokens: null });
    near(record.estimate?.tokens[0], promptTokens);
    expect(record.estimate?.tokens[1]).toBe(0);
  });

  it.each([
    ['an error', openAiError(500, 'server_error')],
    ['a refusal', openAiError(429, 'rate_limit_exceeded')],
  ])('by nothing for %s', async (_name, reply) => {
    expect(await billOf(reply)).toMatchObject({ tokens: null, costNanoUsd: 0, estimate: null });
  });

  it.each([
    ['Azure', { provider: 'azure-openai', azure_deployment_id: 'd' }],
    ['AWS', { provider: 'bedrock', aws_region: 'us-east-1' }],
    ['Google', { provider: 'vertex-ai', vertex_project_id: 'p', vertex_region: 'us-central1' }],
  ])('by nothing where %s could not be told who asks, and nothing was sent', (_name, target) =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('vendor', json(200, chatReply));
      const custom_host = upstream.url;
      const config = { ...target, custom_host };
      const record = billedOf(await trial.ask({ config, records: 1, body }));
      expect(record).toMatchObject({ outcome: 'DENIED', costNanoUsd: 0, estimate: null });
      expect(record.tokens).toBeNull();
      expect(upstream.requests).toEqual([]);
    }),
  );

  it('by nothing where nobody answers', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('gone', openAiError(500, 'never'));
      await upstream.close();
      const asked = await trial.ask({ config: upstream.target(), records: 1, body });
      expect(billedOf(asked)).toMatchObject({ tokens: null, costNanoUsd: 0, estimate: null });
    }));

  it.each([
    ['its caller leaves', { 'x-service-request-timeout': '60000' }, 'request.aborted'],
    ['it takes too long', { 'x-service-request-timeout': '300' }, 'upstream.timeout'],
  ])('by nothing where %s while its connection is being opened', (_name, headers, errorCode) =>
    inTrial(async () => {
      // Connections are taken, and no handshake is answered.
      const silent = createServer();
      const connected = Promise.withResolvers<Socket>();
      silent.on('connection', connected.resolve);
      await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
      const { port } = silent.address() as AddressInfo;
      const traceId = crypto.randomUUID();
      const leave = new AbortController();
      const answer = lab.scenario.chat({
        body,
        host: `https://127.0.0.1:${port}/v1`,
        headers: { ...headers, 'x-service-trace-id': traceId },
        signal: leave.signal,
      });
      const socket = await connected.promise;
      if (errorCode === 'request.aborted') leave.abort();
      await answer.then(
        (response) => response.arrayBuffer(),
        () => {},
      );
      await eventually(() =>
        expect([...lab.records.all()].filter((record) => record.traceId === traceId)).toMatchObject(
          [{ errorCode, costKnown: true, costNanoUsd: 0n, inputTokens: 0n, usageEstimated: false }],
        ),
      );
      socket.destroy();
      silent.close();
    }),
  );

  it.each([
    ['beyond all measure', { prompt_tokens: 1e300, completion_tokens: 1 }],
    [
      'with a part above its whole',
      { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 11 } },
    ],
    ['more than the request allows', { prompt_tokens: 10, completion_tokens: 900_000 }],
    ['below zero', { prompt_tokens: -10, completion_tokens: 5 }],
    ['below zero beside a part of it', { prompt_tokens: 10, completion_tokens: -1 }],
    ['a part of a token', { prompt_tokens: 10.5, completion_tokens: 5 }],
    ['no number', { prompt_tokens: '10', completion_tokens: 5 }],
    ['less than one of its kinds', imagesBeyondAll],
  ])('by its estimate where usage is %s', async (_name, usage) => {
    const record = await billOf(replyWith(usage));
    expect(record).toMatchObject({ tokens: null, isImplausible: true });
    near(record.estimate?.tokens[0], promptTokens);
    expect(record.estimate?.tokens[1]).toBeLessThanOrEqual(1000);
    expect(record.estimate?.costNanoUsd).toBeLessThan(1_000_000);
  });

  it('by the estimate of what was sent, which its config may have changed', async () => {
    const record = await billOf(
      replyWith({ prompt_tokens: -1, completion_tokens: 1 }),
      { body },
      { override_params: { max_tokens: 50 } },
    );
    expect(record.estimate?.tokens[1]).toBe(50);
  });

  it('by what its provider counted, most of which its config put in', async () => {
    const content = 'What is locking? '.repeat(10_000);
    const config = await lab.saveConfig({
      override_params: { messages: [{ role: 'system', content }, ...body.messages] },
    });
    await inTrial(async (trial) => {
      const counts = { prompt_tokens: 40_249, completion_tokens: 5 };
      const upstream = await trial.upstream('vendor', replyWith(counts), replyWith({}));
      const call = {
        config,
        records: 1,
        body,
        headers: {
          'x-service-provider': 'openai',
          'x-service-custom-host': `${upstream.url}/v1`,
          authorization: 'Bearer sk',
        },
      };
      const told = billedOf(await trial.ask(call));
      expect(told).toMatchObject({ tokens: [40_249, 5], estimate: null, isImplausible: false });
      // Where it counts nothing, they are in the estimate.
      near(billedOf(await trial.ask(call)).estimate?.tokens[0], 40_249);
    });
  });

  it.each([
    ['a type that is none', { 'content-type': 'text/x' }, (json: string) => json],
    [
      'a length that is more than is read',
      {},
      (json: string) => json.replace('{', `{"p":"${'x'.repeat(5_000_000)}",`),
    ],
    ['two models', {}, (json: string) => json.replace('{', '{"model":"gpt-4.1-nano",')],
  ])(
    'by what was sent and said, and what is told, though nobody read its body: %s',
    async (_, headers, sent) => {
      const call = { headers, rawBody: sent(JSON.stringify(streamed)) };
      const { estimate } = await billOf(sse(withoutLastCount), {
        path: '/v1/proxy/chat/completions',
        ...call,
      });
      near(estimate?.tokens[0], call.rawBody.length / 4);
      near(estimate?.tokens[1], saidTokens);
      const usage = { input_tokens: 1000, output_tokens: 500 };
      const decided = json(200, { id: 'dec_1', object: 'decision', model: 'gpt-5', usage });
      const unknown = await billOf(decided, { path: '/v1/proxy/decisions', ...call });
      expect(unknown).toMatchObject({ tokens: [1000, 500], costNanoUsd: 6_250_000 });
    },
  );

  it('by what is told where one vendor only keeps and another answers, and never twice', async () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
    const said = { object: 'conversation.response', conversation_id: 'conv_1', outputs: [], usage };
    const mistral = { provider: 'mistral-ai' };
    for (const [path, body, cost] of [
      [
        '/v1/proxy/v1/conversations',
        { model: 'mistral-large-2411', inputs: 'Hi' },
        expect.any(Number),
      ],
      ['/v1/proxy/v1/conversations/conv_1', { inputs: 'And then?' }, null],
    ] as const)
      expect(await billOf(json(200, said), { path, body }, mistral)).toMatchObject({
        tokens: [1000, 500],
        costNanoUsd: cost,
      });
    const kept = { id: 'conv_1', object: 'conversation', usage };
    expect(
      await billOf(json(200, kept), { path: '/v1/conversations', body: { items: [] } }),
    ).toMatchObject({ tokens: null, estimate: null });
    const run = { id: 'run_1', object: 'thread.run', status: 'completed', model: 'gpt-4o', usage };
    await inTrial(async (trial) => {
      const upstream = await trial.upstream('vendor', json(200, run));
      const { rawRecords } = await trial.ask({
        config: upstream.target(),
        path: '/v1/threads/thread_1/runs',
        body: { assistant_id: 'asst_1', model: 'gpt-4o' },
        records: 2,
      });
      expect(rawRecords.map(({ inputTokens }) => inputTokens).toSorted()).toEqual([0n, 1000n]);
    });
  });

  it('by what its provider counted beside pictures of megabytes, also where a stream is a list', async () => {
    const data = 'A'.repeat(5_000_000);
    const usageMetadata = { promptTokenCount: 1000, candidatesTokenCount: 500 };
    const part = { inlineData: { mimeType: 'image/png', data } };
    const events = [
      { candidates: [{ content: { parts: [{ text: 'Here.' }] } }] },
      { candidates: [{ content: { parts: [part] }, finishReason: 'STOP' }], usageMetadata },
    ];
    const drawn = {
      type: 'image_generation.completed',
      b64_json: data,
      usage: { input_tokens: 1000, output_tokens: 500, total_tokens: 1500 },
    };
    const gemini = { path: '/v1/proxy/v1beta/models/gemini-2.5-flash:streamGenerateContent' };
    const asked = { contents: [{ parts: [{ text: 'Draw.' }] }] };
    for (const [reply, call, target] of [
      [sse(events), { path: `${gemini.path}?alt=sse`, body: asked }, { provider: 'google' }],
      [json(200, events), { ...gemini, body: asked }, { provider: 'google' }],
      [
        sse([`event: ${drawn.type}\ndata: ${JSON.stringify(drawn)}\n\n`]),
        {
          path: '/v1/images/generations',
          body: { model: 'gpt-image-1', prompt: 'A dot.', stream: true },
        },
        {},
      ],
    ] as const)
      expect(await billOf(reply, call, target)).toMatchObject({
        outcome: 'SUCCESS',
        tokens: [1000, 500],
        costNanoUsd: expect.any(Number),
        stream: true,
      });
    const call = { type: 'image_generation_call', status: 'completed', result: data };
    const response = { id: 'resp_1', object: 'response', model: 'gpt-5', output: [call, call] };
    const passing = await billOf(json(200, { ...response, usage: drawn.usage }), {
      path: '/v1/proxy/v1/responses',
      body: { model: 'gpt-5', input: 'Draw.' },
    });
    expect(passing).toMatchObject({ tokens: [1000, 500], unpriced: 'image_generation' });
  });

  it('by what its provider counted of research, which is more than any other allows', async () => {
    const record = await billOf(
      replyWith({
        prompt_tokens: 33,
        completion_tokens: 11_395,
        total_tokens: 11_428,
        citation_tokens: 29_028,
        num_search_queries: 21,
        reasoning_tokens: 293_947,
      }),
      { body: { ...body, model: 'sonar-deep-research' } },
      { provider: 'perplexity-ai' },
    );
    const costNanoUsd = 33 * 2000 + 11_395 * 8000 + 29_028 * 2000 + 293_947 * 3000 + 21 * 5_000_000;
    expect(record).toMatchObject({ tokens: [33, 305_342], costNanoUsd, isImplausible: false });
  });

  it('by what its provider counted of an answer as long as was asked for', async () => {
    const reply = replyWith({ prompt_tokens: 14, completion_tokens: 250_000 });
    const tokens = [14, 250_000];
    const asked = { ...body, model: 'gpt-5', max_completion_tokens: 100_000 };
    expect(await billOf(reply, { body: asked })).toMatchObject({ tokens, isImplausible: false });
    const short = { ...asked, max_completion_tokens: 10_000 };
    const beyond = await billOf(reply, { body: short });
    expect([beyond.isImplausible, beyond.estimate?.tokens[1]]).toEqual([true, 10_000]);
  });

  it('by what another model counted beside it, at the price of that one', async () => {
    const counted = { input_tokens: 1000, output_tokens: 100 };
    const messageOf = (model: string, more: object, advice: readonly object[]) => {
      const iterations = [{ type: 'message', ...counted }, ...advice];
      return json(200, {
        ...anthropicReplyBody,
        model,
        usage: { ...counted, ...more, iterations },
      });
    };
    const message = (...advice: object[]) => messageOf('claude-sonnet-4-6', {}, advice);
    const asking = {
      model: 'claude-sonnet-4-6',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-4-6' }],
    };
    const told = { body: asking, path: '/v1/messages' };
    const by = { provider: 'anthropic', api_key: 'key' };
    const advice = (model: string, more: object = {}) => ({
      type: 'advisor_message',
      model,
      input_tokens: 90_000,
      cache_read_input_tokens: 10_000,
      output_tokens: 2000,
      ...more,
    });
    const ofAnswer = 1000 * 3000 + 100 * 15_000;
    const ofAdvice = 90_000 * 5000 + 10_000 * 500 + 2000 * 25_000;
    const answered = await billOf(message(advice('claude-opus-4-6')), told, by);
    expect(answered).toMatchObject({
      tokens: [1000, 100],
      costNanoUsd: ofAnswer + ofAdvice,
      isImplausible: false,
      units: { other_model_request_token: 100_000, other_model_response_token: 2000 },
      unpriced: '',
    });
    const twice = message(advice('claude-opus-4-6'), advice('claude-opus-4-6'));
    expect(await billOf(twice, told, by)).toMatchObject({ costNanoUsd: ofAnswer + 2 * ofAdvice });
    // How fast it was is said of the answer alone.
    const fast = messageOf('claude-opus-4-7', { speed: 'fast' }, [advice('claude-opus-4-6')]);
    expect(await billOf(fast, told, by)).toMatchObject({
      costNanoUsd: 6 * (1000 * 5000 + 100 * 25_000) + ofAdvice,
    });
    const unknown = await billOf(message(advice('nobody-knows')), told, by);
    expect(unknown).toMatchObject({ costNanoUsd: ofAnswer, unpriced: 'other_model_token' });
    const absurd = message(advice('claude-opus-4-6', { input_tokens: 1e12 }));
    expect(await billOf(absurd, told, by)).toMatchObject({ isImplausible: true, units: {} });
  });

  it('by its estimate where units are beyond all measure', async () => {
    const record = await billOf(
      json(200, { results: [], meta: { billed_units: { search_units: 1e15 } } }),
      { path: '/v1/rerank', body: { model: 'rerank-v3.5', query: 'a', documents: ['b'] } },
      { provider: 'cohere' },
    );
    expect(record.costNanoUsd).toBeNull();
    expect(record.estimate?.costNanoUsd).toBe(2_000_000);
  });

  it.each([
    ['with usage', json(200, chatReply), body, () => 450_000],
    [
      'without usage, by what it said',
      saying(said),
      body,
      ({ estimate }: Billed) => estimate?.costNanoUsd,
    ],
    [
      'of a stream without usage',
      sse(withoutLastCount),
      streamed,
      ({ estimate }: Billed) => estimate?.costNanoUsd,
    ],
  ])('by nothing where it was kept %s, and says what that saved', (_name, reply, asked, saved) =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('vendor', reply);
      const config = { ...upstream.target(), cache: { mode: 'simple' } };
      const messages = [{ role: 'user', content: `${prompt.repeat(20)}${upstream.url}` }];
      const call = { config, records: 1, body: { ...asked, messages } };
      const first = await trial.ask(call);
      const hit = await trial.ask(call);
      expect([first, hit].map(({ answer }) => answer.own('cache-status'))).toEqual(['MISS', 'HIT']);
      expect(hit.records).toMatchObject([{ tokens: null, costNanoUsd: 0 }]);
      const expected = saved(billedOf(first));
      expect(expected).toBeGreaterThan(0);
      expect(hit.rawRecords.map((record) => Number(record.avoidedCostNanoUsd))).toEqual([expected]);
    }),
  );

  it.each([
    'proxy/chat/completions',
    'proxy/v1/chat/completions',
    'proxy//openai/v1/chat/%63ompletions/',
  ])('on the raw path %s as on any other', async (path) => {
    const record = await billOf(json(200, chatReply), { body, path: `/v1/${path}` });
    expect(record).toMatchObject({ tokens: [1000, 500], costNanoUsd: 450_000 });
  });

  it.each([
    [
      'converse',
      json(200, {
        output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 1000, outputTokens: 500, totalTokens: 1500 },
      }),
    ],
    [
      'converse-stream',
      bytes(
        200,
        Buffer.concat([
          awsEvent('messageStart', { role: 'assistant' }),
          awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello' } }),
          awsEvent('messageStop', { stopReason: 'end_turn' }),
          awsEvent('metadata', { usage: { inputTokens: 1000, outputTokens: 500 } }),
        ]),
        awsStreamHeaders,
      ),
    ],
  ])('in the words of Bedrock, at %s', async (operation, reply) => {
    const asked = { messages: [{ role: 'user', content: [{ text: prompt }] }] };
    const path = `/v1/proxy/model/amazon.nova-lite-v1%3A0/${operation}`;
    const record = await billOf(reply, { body: asked, path }, bedrock);
    const stream = operation === 'converse-stream';
    expect(record).toMatchObject({ outcome: 'SUCCESS', tokens: [1000, 500], stream });
    expect(record.costNanoUsd).toBeGreaterThan(0);
  });

  it('by what Bedrock counts of any other model, whole and in frames', async () => {
    const path = '/v1/proxy/model/us.meta.llama3-1-70b-instruct-v1%3A0/invoke';
    const asked = { prompt, max_gen_len: 1000 };
    const counted = {
      'x-amzn-bedrock-input-token-count': '900',
      'x-amzn-bedrock-cache-read-input-token-count': '100',
      'x-amzn-bedrock-output-token-count': '500',
    };
    const said = { generation: 'Hello', stop_reason: 'stop' };
    const whole = await billOf(json(200, said, counted), { body: asked, path }, bedrock);
    expect(whole).toMatchObject({ outcome: 'SUCCESS', tokens: [1000, 500], estimate: null });
    expect(whole.costNanoUsd).toBeGreaterThan(0);

    const metrics = {
      inputTokenCount: 900,
      cacheReadInputTokenCount: 100,
      outputTokenCount: 500,
    };
    const frameOf = (chunk: object) =>
      awsEvent('chunk', { bytes: Buffer.from(JSON.stringify(chunk)).toString('base64') });
    const last = {
      generation: '',
      stop_reason: 'stop',
      'amazon-bedrock-invocationMetrics': metrics,
    };
    const inFrames = (...chunks: object[]) =>
      bytes(200, Buffer.concat(chunks.map(frameOf)), awsStreamHeaders);
    const streamed = { body: asked, path: `${path}-with-response-stream` };
    const told = await billOf(inFrames({ generation: 'Hello' }, last), streamed, bedrock);
    expect(told).toMatchObject({ outcome: 'SUCCESS', tokens: [1000, 500], estimate: null });
    expect(told.costNanoUsd).toBe(whole.costNanoUsd);

    const untold = await billOf(inFrames({ generation: said.generation }), streamed, bedrock);
    expect(untold.estimate?.tokens[0]).toBeGreaterThan(5);
  });

  it('in those of Cohere, whole, streamed and cut', async () => {
    const asked = {
      model: 'command-a-03-2025',
      messages: [{ role: 'user', content: prompt }],
    };
    const usage = {
      billed_units: { input_tokens: 900, output_tokens: 500 },
      tokens: { input_tokens: 1000, output_tokens: 500 },
    };
    const path = '/v1/proxy/v2/chat';
    const cohere = { provider: 'cohere' };
    const message = { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] };
    const reply = { id: 'c-1', finish_reason: 'COMPLETE', message, usage };
    const whole = await billOf(json(200, reply), { body: asked, path }, cohere);
    expect(whole).toMatchObject({ outcome: 'SUCCESS', tokens: [1000, 500], estimate: null });
    expect(whole.costNanoUsd).toBeGreaterThan(0);

    const event = (type: string, fields: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const words = said.match(/\S+ /g) ?? [];
    const cut = [
      event('message-start', { id: 'c-1', delta: { message: { role: 'assistant', content: [] } } }),
      event('tool-plan-delta', { delta: { message: { tool_plan: 'I look. ' } } }),
      event('content-start', {
        index: 0,
        delta: { message: { content: { type: 'text', text: '' } } },
      }),
      ...words.map((text) =>
        event('content-delta', { index: 0, delta: { message: { content: { text } } } }),
      ),
    ];
    const end = event('message-end', { delta: { finish_reason: 'COMPLETE', usage } });
    const streamed = { body: { ...asked, stream: true }, path };
    const told = await billOf(sse([...cut, end]), streamed, cohere);
    expect(told).toMatchObject({ outcome: 'SUCCESS', tokens: [1000, 500], estimate: null });
    expect(told.costNanoUsd).toBe(whole.costNanoUsd);

    const broken = await billOf(sse(cut, { cutAfter: cut.length }), streamed, cohere);
    expect(broken.outcome).toBe('PARTIAL');
    expect(broken.estimate?.tokens[1]).toBe(Math.ceil(('I look. '.length + said.length) / 4));
  });

  it.each([
    [
      'anthropic',
      '/v1/proxy/v1/messages/count_tokens',
      { model: 'claude-sonnet-4-5', messages: body.messages },
      { input_tokens: 249 },
    ],
    [
      'openai',
      '/v1/proxy/v1/moderations',
      { model: 'omni-moderation-latest', input: prompt },
      { id: 'modr-1', model: 'omni-moderation-latest', results: [{ flagged: false }] },
    ],
    [
      'google',
      '/v1/proxy/v1beta/models/gemini-2.5-pro:countTokens',
      { contents: [{ parts: [{ text: prompt }] }] },
      { totalTokens: 14 },
    ],
  ])(
    'by nothing where a vendor charges nothing: %s at %s',
    async (provider, path, asked, reply) => {
      const record = await billOf(json(200, reply), { body: asked, path }, { provider });
      expect(record).toMatchObject({
        outcome: 'SUCCESS',
        tokens: null,
        estimate: null,
        costNanoUsd: 0,
      });
    },
  );

  const vertexPath = '/v1/proxy/v1/projects/p/locations/us-central1/publishers';
  const vertex = { provider: 'vertex-ai', api_key: 'ya29.token' };
  const byToken = (text: string, tokens: number) => ({
    embeddings: { values: [0.1], statistics: { token_count: tokens, truncated: false } },
    content: text,
  });
  it.each([
    [
      'Gemini’s embedContent',
      { provider: 'google' },
      '/v1/proxy/v1beta/models/gemini-embedding-2:embedContent',
      { content: { parts: [{ text: prompt }] } },
      json(200, { embedding: { values: [0.1] }, usageMetadata: { promptTokenCount: 14 } }),
      [14, 0],
    ],
    [
      'Gemini’s batchEmbedContents',
      { provider: 'google' },
      '/v1/proxy/v1beta/models/gemini-embedding-2:batchEmbedContents',
      {
        requests: [{ model: 'models/gemini-embedding-2', content: { parts: [{ text: prompt }] } }],
      },
      json(200, { embeddings: [{ values: [0.1] }], usageMetadata: { promptTokenCount: 14 } }),
      [14, 0],
    ],
    [
      'Vertex’ predict',
      vertex,
      `${vertexPath}/google/models/gemini-embedding-001:predict`,
      { instances: [{ content: prompt }, { content: prompt }] },
      json(200, { predictions: [byToken('a', 14), byToken('b', 15)] }),
      [29, 0],
    ],
    [
      'Mistral at Vertex',
      vertex,
      `${vertexPath}/mistralai/models/mistral-medium-3:rawPredict`,
      { ...body, model: 'mistral-medium-3' },
      json(200, chatReply),
      [1000, 500],
    ],
    [
      'a serving endpoint of Databricks',
      { provider: 'databricks', databricks_workspace: 'w' },
      '/v1/proxy/serving-endpoints/e/invocations',
      { messages: body.messages },
      json(200, chatReply),
      [1000, 500],
    ],
    [
      'the same, of embeddings',
      { provider: 'databricks', databricks_workspace: 'w' },
      '/v1/proxy/serving-endpoints/e/invocations',
      { input: prompt },
      json(200, {
        object: 'list',
        data: [{ embedding: [0.1], index: 0 }],
        usage: { prompt_tokens: 14, total_tokens: 14 },
      }),
      [14, 0],
    ],
    [
      'the same, streamed',
      { provider: 'databricks', databricks_workspace: 'w' },
      '/v1/proxy/serving-endpoints/e/invocations',
      { messages: body.messages, stream: true },
      sse(openAiEvents('Hello')),
      [1000, 500],
    ],
    [
      'an endpoint of SageMaker',
      { ...bedrock, provider: 'sagemaker' },
      '/v1/proxy/endpoints/e/invocations',
      { messages: body.messages },
      json(200, chatReply),
      [1000, 500],
    ],
  ])('where it passes through at %s', async (_name, target, path, asked, reply, tokens) => {
    const record = await billOf(reply, { body: asked, path }, target);
    expect(record).toMatchObject({ outcome: 'SUCCESS', tokens, estimate: null });
  });

  const decided = { answers: [{ type: 'predicate', name: null, probability: 0.9 }] };
  const usageOfDecision = {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 500,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1500,
  };
  const eventOf = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

  it.each<[string, UpstreamReply]>([
    ['as OpenAI tells it', json(200, { ...decided, model: body.model, usage: usageOfDecision })],
    ['of chats', json(200, { usage: { prompt_tokens: 1000, completion_tokens: 500 } })],
    [
      'as Anthropic tells it',
      json(200, {
        usage: { input_tokens: 900, cache_read_input_tokens: 100, output_tokens: 500 },
      }),
    ],
    [
      'as Google tells it',
      json(200, { usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 500 } }),
    ],
    [
      'as Google’s interactions tell it',
      json(200, {
        usage: {
          total_input_tokens: 900,
          total_tool_use_tokens: 100,
          total_output_tokens: 300,
          total_thought_tokens: 200,
          total_tokens: 1500,
        },
      }),
    ],
    [
      'at the end of a stream',
      sse([
        eventOf({ type: 'decision.delta', usage: null }),
        'event: ping\ndata: not JSON\n\n',
        eventOf({ type: 'decision.done', response: { usage: usageOfDecision } }),
      ]),
    ],
  ])('by the usage of an endpoint that nobody knows yet, %s', async (_name, reply) => {
    for (const path of ['/v1/decisions', '/v1/proxy/v1/decisions']) {
      const asked = { model: body.model, input: prompt, questions: [{ type: 'predicate' }] };
      const record = await billOf(reply, { body: asked, path });
      expect(record).toMatchObject({ outcome: 'SUCCESS', tokens: [1000, 500], estimate: null });
      expect(record.costNanoUsd).toBeGreaterThan(0);
    }
  });

  it('by nothing where such an endpoint tells none, or is asked of no model', async () => {
    const asked = { model: body.model, input: prompt };
    const usage = usageOfDecision;
    for (const [reply, request] of [
      [json(200, decided), asked],
      [json(200, { ...decided, usage: null }), asked],
      [bytes(200, Buffer.from('v=0'), { 'content-type': 'application/sdp' }), asked],
      [sse([eventOf({ type: 'decision.delta', text: said })]), asked],
      // What is looked at, or changed, told its usage when it was made.
      [json(200, { ...decided, usage }), { input: prompt }],
    ] as const)
      expect(await billOf(reply, { body: request, path: '/v1/decisions' })).toMatchObject({
        outcome: 'SUCCESS',
        tokens: null,
        estimate: null,
        costNanoUsd: null,
      });
  });

  it('by its pictures where Imagen passes through', async () => {
    const path = `${vertexPath}/google/models/imagen-4.0-generate-001:predict`;
    const asked = { instances: [{ prompt }], parameters: { sampleCount: 2 } };
    const picture = { bytesBase64Encoded: 'aGVsbG8=', mimeType: 'image/png' };
    const reply = json(200, { predictions: [picture, picture] });
    const record = await billOf(reply, { body: asked, path }, vertex);
    expect(record).toMatchObject({ outcome: 'SUCCESS', tokens: null, images: 2 });
    expect(record.costNanoUsd).toBeGreaterThan(0);
  });

  it('in those of Claude at Bedrock, whole and in frames', async () => {
    const path = '/v1/proxy/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke';
    const whole = await billOf(json(200, anthropicReplyBody), { body, path }, bedrock);
    expect(whole).toMatchObject({ outcome: 'SUCCESS', tokens: [1000, 500] });
    const frames = anthropicEvents('Hello').map((event) => {
      const data = /^data: (.*)$/m.exec(event)?.[1] ?? '';
      return awsEvent('chunk', { bytes: Buffer.from(data).toString('base64') });
    });
    const stream = bytes(200, Buffer.concat(frames), awsStreamHeaders);
    const told = await billOf(stream, { body, path: `${path}-with-response-stream` }, bedrock);
    expect(told).toMatchObject({ outcome: 'SUCCESS', tokens: [1000, 500] });
  });
});
