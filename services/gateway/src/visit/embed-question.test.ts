import { CheckError } from '@sluice/guardrails';
import { createLogger, type Logger } from '@sluice/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey } from '../../test/exchange.ts';
import type { CallModel } from '../calls/call-model.ts';
import type { BodyReply } from '../exchange/reply.ts';
import { abortReason } from '../http/caller-gone.ts';
import { CheckEmbedder } from './embed-for-checks.ts';
import { type Embedded, type EmbedOptions, QuestionEmbedder } from './embed-question.ts';

type Call = Parameters<CallModel>;

let calls: Call[] = [];
let came: Embedded[] = [];
let nowMs = 0;
let answer: (...call: Call) => Promise<BodyReply> = async () => reply({ data: [] });
beforeEach(() => {
  calls = [];
  came = [];
  nowMs = 1_700_000_000_000;
});

const reply = (json: object, status = 200): BodyReply => ({
  kind: 'body',
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(json)),
});
const vector = (...embedding: unknown[]) => reply({ data: [{ index: 0, embedding }] });

const exchange = exampleExchange({
  bundle: exampleBundle({
    providers: [
      {
        slug: 'vectors',
        provider: 'openai',
        apiKey: 'sk-saved',
        models: [{ slug: 'small', enabled: true }],
      },
    ] as never,
  }),
  key: exampleKey(),
  headers: {
    'x-service-custom-host': 'https://elsewhere.example.com',
    'x-service-provider': 'cohere',
    authorization: 'Bearer sk-own',
  },
});

function embedderWith(
  over: Partial<EmbedOptions> = {},
  logger = createLogger({ service: 'test', level: 'silent' }),
): QuestionEmbedder {
  const options: EmbedOptions = {
    provider: undefined,
    model: undefined,
    apiKey: undefined,
    url: undefined,
    dimensions: 2,
    timeoutMs: 1000,
    ...over,
  };
  return new QuestionEmbedder(options, {
    callModel: (...call) => {
      calls.push(call);
      return answer(...call);
    },
    logger,
    onEmbedded: (what) => came.push(what),
    now: () => nowMs,
  });
}

const rule = { provider: '@vectors', model: 'small' };
function ask(embedder: QuestionEmbedder, named: typeof rule | undefined = rule) {
  return embedder.embed(exchange, embedder.embedderOf(named, 'config'), 'How?');
}

describe('the vector of a question', () => {
  it('is asked for on the account of the caller, of the saved provider, and has the length 1', async () => {
    answer = async () => vector(3, 4);
    const found = await ask(embedderWith());
    expect([...(found ?? [])]).toEqual([expect.closeTo(0.6), expect.closeTo(0.8)]);
    const [[identity, target, body] = []] = calls;
    expect(identity).toMatchObject({ key: exchange.key, bundle: exchange.bundle });
    expect(identity?.decisionJson).toBe('{"asked_by":"cache"}');
    expect(target).toMatchObject({
      apiKey: 'sk-saved',
      customHost: undefined,
      path: 'cache.embedding',
      servedModel: 'small',
    });
    expect(body).toEqual({
      endpoint: 'embed',
      json: { model: 'small', input: 'How?', dimensions: 2 },
    });
    expect(came).toEqual(['made']);
  });

  it('is asked for of whom the operator names, with a key and address of the operator’s', async () => {
    answer = async () => vector(1, 0);
    const url = 'https://vectors.example.com/v1';
    const named = { provider: 'openai', model: 'large', apiKey: 'sk-operator', url };
    const embedder = embedderWith(named);
    expect(
      await embedder.embed(exchange, embedder.embedderOf(undefined, 'config'), 'How?'),
    ).toEqual(Float32Array.of(1, 0));
    expect(calls[0]?.[1]).toMatchObject({
      apiKey: 'sk-operator',
      customHost: { url, by: 'admin' },
      servedModel: 'large',
    });
    expect(embedder.embedderOf(undefined, 'config').name).not.toBe(
      embedderWith({ ...named, dimensions: 3 }).embedderOf(undefined, 'config').name,
    );
  });

  it('cannot be had where nobody is named, or nobody knows who is', () => {
    expect(() => embedderWith().embedderOf(undefined, 'config')).toThrow(
      'config.cache.embedding must name who makes vectors of questions',
    );
    expect(() => embedderWith({ provider: 'nobody', model: 'm' })).toThrow('"nobody"');
    expect(() => embedderWith({ provider: 'openai' })).toThrow('SEMANTIC_CACHE_EMBEDDING_MODEL');
  });

  it('is asked for without a number of dimensions where a model takes none, and so from then on', async () => {
    answer = async (_identity, _target, { json }) =>
      'dimensions' in json ? reply({ error: {} }, 400) : vector(1, 0);
    const embedder = embedderWith();
    expect(await ask(embedder)).toBeDefined();
    expect(await ask(embedder)).toBeDefined();
    expect(calls.map(([, , { json }]) => 'dimensions' in json)).toEqual([true, false, false]);
    // Another workspace may have another provider under that name.
    const other = exampleExchange({
      bundle: exampleBundle({ ...exchange.bundle?.source, workspaceId: 'ws-2' } as never),
      key: exampleKey(),
    });
    await embedder.embed(other, embedder.embedderOf(rule, 'config'), 'How?');
    expect('dimensions' in (calls[3]?.[2].json ?? {})).toBe(true);
  });

  it.each([
    ['of another size', vector(1, 0, 0)],
    ['without a direction', vector(0, 0)],
    ['of something else', vector('1', null)],
    ['that is not there', reply({ data: [] })],
    ['in no JSON', { ...reply({}), body: Buffer.from('<html>') }],
    ['that is refused', reply({}, 500)],
  ])('is none %s', async (_what, told) => {
    answer = async () => told;
    expect(await ask(embedderWith())).toBeUndefined();
    expect(came).toEqual(['failed']);
  });

  it('is none where the provider is not to be found, or the model not allowed', async () => {
    expect(await ask(embedderWith(), { provider: '@gone', model: 'small' })).toBeUndefined();
    expect(await ask(embedderWith(), { provider: '@vectors', model: 'large' })).toBeUndefined();
    expect([came, calls]).toEqual([['failed', 'failed'], []]);
  });

  it('is not waited for longer than the deadline, whatever its maker does', async () => {
    answer = () => new Promise(() => {});
    expect(await ask(embedderWith({ timeoutMs: 20 }))).toBeUndefined();
    expect(came).toEqual(['late']);
    expect(calls[0]?.[3].reason).toMatchObject({ code: 'upstream.timeout' });
  });

  it('is nobody’s fault where its caller leaves', async () => {
    const leaving = new AbortController();
    answer = () => new Promise(() => {});
    const left = { ...exchange, arrival: { ...exchange.arrival, signal: leaving.signal } };
    const embedder = embedderWith();
    const asked = embedder.embed(left, embedder.embedderOf(rule, 'config'), 'How?');
    leaving.abort();
    expect(await asked).toBeUndefined();
    expect([came, abortReason(calls[0]![3]).code]).toEqual([[], 'request.aborted']);
  });

  it('is asked for by one alone when its maker has rested, and the log says once that it is away', async () => {
    const lines: string[] = [];
    const logger = {
      warn: ({ reason }: { reason: string }) => lines.push(`away: ${reason}`),
      info: () => lines.push('back'),
    };
    const embedder = embedderWith({}, logger as unknown as Logger);
    const askSome = () => Promise.all(Array.from({ length: 10 }, () => ask(embedder)));
    answer = async () => reply({}, 503);
    for (let time = 0; time < 3; time++) await ask(embedder);
    await askSome();
    for (let rest = 0; rest < 3; rest++) {
      nowMs += 10_001;
      await askSome();
    }
    expect(calls).toHaveLength(6);
    answer = async () => vector(1, 0);
    nowMs += 10_001;
    await ask(embedder);
    expect((await askSome()).every((found) => found !== undefined)).toBe(true);
    expect(lines).toEqual(['away: the embedding model answered 503', 'back']);
  });

  it('is not asked for for a while after three failures in a row, by that workspace', async () => {
    answer = async () => reply({}, 503);
    const embedder = embedderWith();
    for (let time = 0; time < 4; time++) await ask(embedder);
    expect(came).toEqual(['failed', 'failed', 'failed', 'resting']);
    answer = async () => vector(1, 0);
    const other = exampleExchange({
      bundle: exampleBundle({ ...exchange.bundle?.source, workspaceId: 'ws-2' } as never),
      key: exampleKey(),
    });
    expect(await embedder.embed(other, embedder.embedderOf(rule, 'config'), 'How?')).toBeDefined();
    nowMs += 10_001;
    expect(await ask(embedder)).toBeDefined();
  });
});

describe('vectors for checks', () => {
  const { signal } = new AbortController();

  it.each([
    ['its time is over', new CheckError('DeadlineExceeded', 'x'), 'DeadlineExceeded', 3],
    [
      'the time of its hook is over',
      new CheckError('HookDeadlineExceeded', 'x'),
      'HookDeadlineExceeded',
      4,
    ],
    ['it has decided', undefined, 'HostFailed', 4],
  ])('are waited for no longer than the check does: %s', async (_what, reason, name, asked) => {
    answer = () => new Promise(() => {});
    const questions = embedderWith({ timeoutMs: 60_000 });
    const embed = new CheckEmbedder(questions).for(exchange);
    for (let time = 0; time < 4; time++) {
      const ending = new AbortController();
      const vector = embed('a text', { rule, keep: false, signal: ending.signal });
      ending.abort(reason);
      await expect(vector).rejects.toMatchObject({ name });
    }
    // A model that does not answer in time is not asked for a while; by checks alone.
    expect(calls).toHaveLength(asked);
    for (const [, , , given] of calls) expect(given.aborted).toBe(true);
    answer = async () => vector(1, 0);
    expect(await ask(questions)).toBeDefined();
  });

  it('are made on the account of the caller, said to be so, and examples are asked once a workspace', async () => {
    answer = async () => vector(1, 0);
    const checks = new CheckEmbedder(embedderWith());
    const embed = checks.for(exchange);
    await embed('an example', { rule, keep: true, signal });
    expect(await embed('an example', { rule, keep: true, signal })).toEqual(Float32Array.of(1, 0));
    await embed('an example', { rule, keep: false, signal });
    expect(calls).toHaveLength(2);
    expect(calls[0]?.[0].decisionJson).toBe('{"asked_by":"guardrail"}');
    const { bundle } = exchange;
    const source = { ...bundle?.source, workspaceId: 'another' };
    const elsewhere = exampleExchange({
      bundle: { ...bundle, source } as never,
      key: exampleKey(),
    });
    await checks.for(elsewhere)('an example', { rule, keep: true, signal });
    expect(calls).toHaveLength(3);
  });

  it('are an error of the check where there are none, and nobody is kept', async () => {
    answer = async () => reply({ error: {} }, 500);
    const embed = new CheckEmbedder(embedderWith()).for(exchange);
    const asked = embed('an example', { rule, keep: true, signal });
    await expect(asked).rejects.toMatchObject({ name: 'HostFailed' });
    await expect(embed('x', { rule: undefined, keep: false, signal })).rejects.toMatchObject({
      name: 'InvalidParameters',
    });
    expect(came).toEqual([]);
    answer = async () => vector(1, 0);
    expect(await embed('an example', { rule, keep: true, signal })).toEqual(Float32Array.of(1, 0));
  });
});
