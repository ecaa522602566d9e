import { directConfig, type ResolvedTarget } from '@sluice/engine';
import { createConnectGuard, createUpstreamPools, makeHostRules } from '@sluice/outbound';
import { PriceBook } from '@sluice/pricing';
import { json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey } from '../../test/exchange.ts';
import type { LimitsOfRequest } from '../exchange/limits.ts';
import type { EndedAttempt } from '../exchange/prepared-call.ts';
import { billAttempt } from '../money/bill-attempt.ts';
import { countAttempt } from '../money/count-attempt.ts';
import { UseEstimates } from '../money/estimate-use.ts';
import { ObservedModels } from '../money/observed-models.ts';
import { PriceList } from '../money/price-list.ts';
import { resolveTarget } from '../visit/targets/resolve-target.ts';
import { createCallModel, type ModelBody } from './call-model.ts';
import { ReadOn } from './read-on.ts';

const reply = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-judge-2026',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
};
const hostRules = makeHostRules({
  trusted: ['127.0.0.1'],
  trustedForCallers: ['127.0.0.1'],
  production: false,
});

let upstream: Upstream;
let pools: ReturnType<typeof createUpstreamPools>;
beforeEach(async () => {
  upstream = await startUpstream(json(200, reply));
  pools = createUpstreamPools({ guard: createConnectGuard({ rules: hostRules }) });
});
afterEach(async () => {
  await pools.close(0);
  await upstream.close();
});

/** A caller's request that needs a judge, with a provider that an admin saved, and what listeners hear. */
function setUp(attemptsMax = 10) {
  const bundle = exampleBundle({
    providers: [
      {
        slug: 'judge',
        provider: 'openai',
        status: 'active',
        apiKey: 'sk-judge',
        allowAllModels: true,
        customHost: `${upstream.url}/v1`,
      },
    ] as never,
  });
  const exchange = exampleExchange({
    bundle,
    key: exampleKey(),
    headers: { 'x-service-provider': '@judge', 'x-service-api-key': 'sl_secret', cookie: 'own' },
  });
  const settled: number[] = [];
  exchange.limits = {
    isRefused: false,
    statesOfRequest: [],
    reserve: () => undefined,
    judge: async () => ({ own: [], ofTarget: [], refusal: undefined, endsRequest: false }),
    post: ({ tokens }) => void settled.push(tokens),
    beside: () => undefined,
    noteAnswered: () => {},
    hold: () => {},
    release: () => {},
  } satisfies LimitsOfRequest;
  const planned = {
    ...(directConfig.targets[0] as ResolvedTarget),
    retry: { attempts: 1, statusCodes: new Set([503]), usesWaitHints: false },
  };
  const heard: EndedAttempt[] = [];
  const observed = new ObservedModels();
  const estimates = new UseEstimates(observed);
  const callModel = createCallModel({
    hostRules,
    pools,
    authoriser: {
      isMadeForEachCall: () => false,
      authorise: () => Promise.reject(new Error('a bearer token is a header')),
      foresee: () => Promise.resolve(),
    },
    readOn: new ReadOn({ countMax: 0, timeoutMs: 1 }),
    listeners: [
      billAttempt(estimates, observed),
      () => (attempt) => void heard.push(attempt),
      countAttempt(estimates, new PriceList(new PriceBook())),
    ],
    options: {
      requestTimeoutMs: 2000,
      firstByteTimeoutMs: 0,
      streamIdleTimeoutMs: 2000,
      replyBytesMax: 100_000,
    },
    bounds: { attemptsMax, routingTimeoutMs: 10_000 },
    hedgeBudget: { request: () => {}, take: () => false },
    metrics: { retried: () => {}, hedged: () => {} },
  });
  const target = resolveTarget(exchange, planned);
  const question: ModelBody = {
    endpoint: 'chatComplete',
    json: { model: 'gpt-judge', messages: [] },
  };
  const ask = (signal = new AbortController().signal) =>
    callModel(exchange, target, question, signal);
  return { exchange, ask, heard, settled };
}

describe('callModel', () => {
  it('asks the model on the account of whoever it is for, and nothing of their request travels on', async () => {
    const { exchange, ask, heard, settled } = setUp();
    const answer = await ask();
    expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([200, reply]);
    const [sent] = upstream.requests;
    expect(sent?.path).toBe('/v1/chat/completions');
    expect(JSON.parse(String(sent?.body))).toEqual({ model: 'gpt-judge', messages: [] });
    expect(sent?.headers.authorization).toBe('Bearer sk-judge');
    expect(JSON.stringify(sent?.headers)).not.toMatch(/sl_secret|own/);
    expect(heard).toHaveLength(1);
    expect(heard[0]?.call.requester).toMatchObject({
      key: exchange.key,
      bundle: exchange.bundle,
      arrival: { requestId: exchange.arrival.requestId },
      subject: { operation: { id: 'chatComplete' } },
    });
    expect(heard[0]?.facts?.usage).toMatchObject({ inputTokens: 7, outputTokens: 1 });
    expect(settled).toEqual([8]);
    // The request it is made for has tried nothing by this.
    expect(exchange.progress).toMatchObject({ attempts: 0, tries: 0 });
    expect(exchange.visits).toEqual([]);
  });

  it('retries as the target says, and each attempt is heard of', async () => {
    const { ask, heard } = setUp();
    upstream.handle(() =>
      upstream.requests.length === 1 ? json(503, { error: { message: 'busy' } }) : json(200, reply),
    );
    expect((await ask()).status).toBe(200);
    expect(heard.map(({ status, retryCount }) => [status, retryCount])).toEqual([
      [503, 0],
      [200, 1],
    ]);
  });

  it('gives the provider’s refusal as the answer', async () => {
    const { ask, heard } = setUp();
    upstream.handle(json(400, { error: { message: 'no' } }));
    expect((await ask()).status).toBe(400);
    expect(heard).toHaveLength(1);
  });

  it('ends with whoever it is made for', async () => {
    const { ask, heard } = setUp();
    const gone = new AbortController();
    upstream.handle(async () => {
      gone.abort();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return json(200, reply);
    });
    await expect(ask(gone.signal)).rejects.toMatchObject({ code: 'request.aborted' });
    expect(heard.map(({ errorCode }) => errorCode)).toEqual(['request.aborted']);
  });
});
