import { setTimeout as delay } from 'node:timers/promises';
import { graceMs } from '@sluice/env';
import { usage } from '@sluice/proto-stubs';
import {
  eventually,
  freshName,
  hang,
  json,
  type SseOptions,
  sse,
  type UpstreamReply,
} from '@sluice/testkit';
import { uuidText } from '@sluice/usage';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { fixtureServer } from './mcp/fixture-server.ts';
import { startLegacyUpstream } from './mcp/legacy-upstream.ts';
import { saveServer } from './mcp/mcp-lab.ts';
import { startScriptedModel } from './mcp/scripted-model.ts';
import { type Records, readRecords } from './records.ts';
import { startRoundRobin } from './round-robin.ts';
import {
  chatBody,
  chatReply,
  ledgerHolds,
  type Scenario,
  settledTotal,
  startScenario,
} from './scenario.ts';

/** SIGTERM under many open streams. `SLUICE_DRAINED_STREAMS=500` is the full size; the suite goes with fewer, and shorter ones. */
const streams = Number(process.env.SLUICE_DRAINED_STREAMS ?? 40);
const isFull = process.env.SLUICE_DRAINED_STREAMS !== undefined;
const events = 15;
const everyMs = isFull ? 200 : 120;
/** What balancers have to notice: ten times what a busy machine takes to read that a gateway is not ready. */
const delayMs = 3_000;
/** Of the rolling restart: requests a second, and how long it goes on between two. */
const rate = isFull ? 200 : 30;
const settleMs = isFull ? 3_000 : 300;
/** Read again when the gateway starts. */
const gateway = { SHUTDOWN_DELAY: String(delayMs), DRAIN_TIMEOUT: '8000', LOG_REQUESTS: 'false' };

let scenario: Scenario;
let records: Records;
let origin: string;

beforeAll(async () => {
  scenario = await startScenario({
    promptLedger: true,
    processes: ['gateway'],
    gateways: 2,
    nats: true,
    environment: { gateway, 'gateway-2': gateway },
  });
  records = await readRecords(scenario.stack.nats?.url as string);
  origin = scenario.stack.gatewayUrls[0] as string;
});
afterAll(async () => {
  await records?.close();
  await scenario?.stop();
});

const event = (index: number) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content: `<${index}>` }, finish_reason: null }],
});
const streamOf = (count: number, options: SseOptions = {}) =>
  sse([...Array.from({ length: count }, (_, index) => event(index)), '[DONE]'], {
    delayMs: everyMs,
    ...options,
  });
/** A whole one, of which the last event is kept back until then. */
function streamUntil(over: Promise<void>): UpstreamReply {
  const begun = streamOf(events, { stallAfter: events - 1 });
  return {
    async send(response, signal) {
      await begun.send(response, signal);
      await over;
      response.end(`data: ${JSON.stringify(event(events - 1))}\n\ndata: [DONE]\n\n`);
    },
  };
}
const whole = Array.from({ length: events }, (_, index) => `<${index}>`).join('');

interface Read {
  readonly text: string;
  /** The connection was broken before the end of the answer. */
  readonly isCut: boolean;
}

async function read(response: Response): Promise<Read> {
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  } catch {
    return { text, isCut: true };
  }
  return { text, isCut: false };
}

const contentsOf = ({ text }: Read) => (text.match(/<\d+>/g) ?? []).join('');
const isWhole = (each: Read) =>
  !each.isCut && contentsOf(each) === whole && each.text.endsWith('data: [DONE]\n\n');

const ask = () => scenario.chat({ body: { ...chatBody, stream: true } });

/** All under way: each has its head, and is read from now on. */
async function openAll(): Promise<Promise<Read>[]> {
  const responses = await Promise.all(Array.from({ length: streams }, ask));
  expect(responses.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
  const metrics = await fetch(scenario.stack.gatewayMetricsUrl).then((answer) => answer.text());
  expect(Number(/^sluice_open_streams\{.*\} (\d+)$/m.exec(metrics)?.[1])).toBe(streams);
  return responses.map(read);
}

const isReady = () => fetch(`${origin}/health/ready`).then(({ status }) => status);

const freshSince = (known: ReadonlySet<string>) =>
  records
    .all()
    .filter(({ id, requestId }) => !known.has(uuidText(id)) && !withTools.has(uuidText(requestId)));
/** Requests that have several records each. */
const withTools = new Set<string>();

/** What reached the ledger's side of NATS since then, by outcome; every request in it once. */
function outcomesSince(known: ReadonlySet<string>): Record<string, number> {
  const fresh = freshSince(known);
  expect(new Set(fresh.map(({ requestId }) => uuidText(requestId))).size).toBe(fresh.length);
  const counts: Record<string, number> = {};
  for (const { outcome } of fresh) {
    const name = usage.Outcome[outcome];
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
const knownRecords = () => new Set(records.all().map(({ id }) => uuidText(id)));

it(`SIGTERM under ${streams} streams cuts none, and each is recorded once`, async () => {
  const before = await settledTotal(scenario);
  const known = knownRecords();
  const over = Promise.withResolvers<void>();
  scenario.upstream.handle(streamUntil(over.promise));
  const reads = await openAll();

  const signalledAt = performance.now();
  const elapsed = () => Math.round(performance.now() - signalledAt);
  const stopped = scenario.stack.part('gateway').stop();
  await expect.poll(isReady, { interval: 10 }).toBe(503);
  const notReadyMs = elapsed();
  // Load balancers have not noticed yet: what they send is served, and told to go elsewhere.
  const late = await ask();
  expect(late.status).toBe(200);
  expect(late.headers.get('connection')).toBe('close');
  const lateRead = read(late);

  const isThere = () =>
    fetch(`${origin}/health/live`).then(
      () => true,
      () => false,
    );
  await expect.poll(isThere).toBe(false);
  // It closed when its time was over, and while all streams went on.
  expect(elapsed()).toBeGreaterThanOrEqual(delayMs);
  over.resolve();
  const told = await Promise.all([...reads, lateRead]);
  expect(told.filter((each) => !isWhole(each)).map(contentsOf)).toEqual([]);
  const lastMs = elapsed();
  await stopped;
  const endedMs = elapsed();
  // It ended since all was over, and not since a deadline came.
  expect(notReadyMs).toBeLessThan(delayMs);
  expect(endedMs).toBeLessThan(delayMs + Number(gateway.DRAIN_TIMEOUT));
  const lines = scenario.stack.part('gateway').stderr();
  expect(lines).toContain('"msg":"stopped"');
  expect(lines).not.toContain('not everything could be closed');

  // Handed over before the process was gone, not by the next one on its folder.
  await eventually(() => expect(outcomesSince(known)).toEqual({ SUCCESS: streams + 1 }));
  await scenario.stack.part('gateway').start();
  await ledgerHolds(scenario, before + streams + 1);
  expect(await settledTotal(scenario)).toBe(before + streams + 1);
  if (isFull)
    process.stdout.write(
      `${streams} streams: 0 cut; not ready after ${notReadyMs} ms, last end ${lastMs} ms, process gone ${endedMs} ms after SIGTERM\n`,
    );
});

it(`a rolling restart of two gateways under ${rate} requests a second, half of them streams, fails none`, async () => {
  const { stack, upstream, chat } = scenario;
  const before = await settledTotal(scenario);
  const short = streamOf(3);
  upstream.handle((request) =>
    (request.json() as { stream?: boolean }).stream === true ? short : json(200, chatReply),
  );
  const balancer = startRoundRobin({
    origins: stack.gatewayUrls,
    perSecond: rate,
    async send(gateway, n) {
      const stream = n % 2 === 0;
      const response = await chat({ gateway, body: { ...chatBody, stream } });
      const told = await read(response);
      if (response.status !== 200) return `${response.status}: ${told.text}`;
      const isGood = stream
        ? !told.isCut && told.text.endsWith('data: [DONE]\n\n')
        : told.text.includes('Hi there');
      return isGood ? undefined : `only ${told.text}`;
    },
  });
  // Also where something in between fails: nobody else is asked then.
  onTestFinished(async () => {
    await balancer.stop();
  });
  await expect.poll(balancer.allReady).toBe(true);
  balancer.begin();
  await delay(settleMs);
  const restarts: number[] = [];
  for (const [index, name] of (['gateway', 'gateway-2'] as const).entries()) {
    const stoppedAt = performance.now();
    const stopped = stack.part(name).stop();
    await expect.poll(() => balancer.isReady(index), { interval: 10 }).toBe(false);
    await stopped;
    await stack.part(name).start();
    await expect.poll(balancer.allReady).toBe(true);
    restarts.push(Math.round(performance.now() - stoppedAt));
    await delay(settleMs);
  }
  const sent = await balancer.stop();
  upstream.requests.length = 0;
  expect(sent.flatMap(({ fault }) => fault ?? [])).toEqual([]);
  // It is not one gateway that did it all.
  for (const gateway of [0, 1])
    expect(sent.filter((each) => each.gateway === gateway).length).toBeGreaterThan(sent.length / 5);
  await ledgerHolds(scenario, before + sent.length);
  if (isFull)
    process.stdout.write(
      `rolling restart: ${sent.length} requests at ${rate} a second, 0 failed; each gateway was ready again after ${restarts.join(' and ')} ms\n`,
    );
});

it(`${streams} streams longer than DRAIN_TIMEOUT are told that we end them, and no record is lost`, async () => {
  gateway.DRAIN_TIMEOUT = '700';
  await scenario.stack.part('gateway').stop();
  await scenario.stack.part('gateway').start();
  const before = await settledTotal(scenario);
  const known = knownRecords();
  scenario.upstream.handle(streamOf(1000));
  const reads = await openAll();

  const signalledAt = performance.now();
  await scenario.stack.part('gateway').stop();
  const endedMs = Math.round(performance.now() - signalledAt);
  const told = await Promise.all(reads);
  // Nobody can take a stream that we ended for one that ended.
  const isTold = ({ isCut, text }: Read) =>
    !isCut && /\n\ndata: \{"error":.*"code":"gateway\.draining".*\}\n\n$/.test(text);
  expect(told.filter((each) => !isTold(each) || each.text.includes('[DONE]'))).toEqual([]);
  const env = {
    SHUTDOWN_DELAY: Number(gateway.SHUTDOWN_DELAY),
    DRAIN_TIMEOUT: Number(gateway.DRAIN_TIMEOUT),
  };
  expect(endedMs).toBeGreaterThanOrEqual(env.SHUTDOWN_DELAY + env.DRAIN_TIMEOUT);
  expect(endedMs).toBeLessThan(graceMs(env));
  expect(scenario.stack.part('gateway').stderr()).toContain('"msg":"stopped"');

  await eventually(() => expect(outcomesSince(known)).toEqual({ PARTIAL: streams }));
  await scenario.stack.part('gateway').start();
  await ledgerHolds(scenario, before + streams);
  expect(await settledTotal(scenario)).toBe(before + streams);
  expect(new Set(freshSince(known).map(({ errorCode }) => errorCode))).toEqual(
    new Set(['gateway.draining']),
  );
  if (isFull)
    process.stdout.write(
      `${streams} endless streams: told at the deadline, ${streams} records; process gone ${endedMs} ms after SIGTERM\n`,
    );
});

const cent = 10_000_000n;

/** An agent that anybody in the workspace may call: its slug. */
async function saveAgent(url: string, prices: object): Promise<string> {
  const slug = freshName('draining-agent');
  const { admin, stack } = scenario;
  const { workspace_id } = stack.credentials;
  const integration = { name: slug, slug, url, configurations: { prices } };
  const { id } = await admin<{ id: string }>('POST', '/agent-integrations', integration);
  await admin('PUT', `/agent-integrations/${id}/workspaces`, {
    workspaces: [{ id: workspace_id, enabled: true }],
  });
  const server = { name: slug, slug, agent_integration_id: id, workspace_id };
  await admin('POST', '/agent-servers', server);
  return slug;
}

it('whatever is under way at the deadline is told in its own words', async () => {
  const known = knownRecords();
  scenario.upstream.handle(({ path }) => (path.includes('slow') ? hang() : streamOf(1000)));
  const { chat, call, upstream } = scenario;
  const asked = { ...chatBody, stream: true };
  const config = (value: object) => ({ 'x-service-config': JSON.stringify(value) });
  const checked = {
    output_guardrails: [
      { stream_mode: 'window', hold_chars: 64, 'default.regexMatch': { rule: 'zebra', not: true } },
    ],
  };
  const hedged = { hedge: { delay: 5000, budget_percentage: 100 } };
  const target = { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` };
  const recovered = {
    strategy: { mode: 'fallback' },
    stream_recovery: 'continue',
    targets: [target, target],
  };
  const cached = { cache: { mode: 'simple' } };
  const slow = `${upstream.url}/slow`;
  const ways: Record<string, () => Promise<Response>> = {
    translated: () => call('/v1/messages', { body: { ...asked, max_tokens: 10 } }),
    passed: () => call('/v1/proxy/chat/completions', { body: asked }),
    checked: () => chat({ body: asked, headers: config(checked) }),
    hedged: () => chat({ body: asked, headers: config(hedged) }),
    recovered: () => chat({ body: asked, host: null, headers: config(recovered) }),
    unanswered: () => chat({ host: slow }),
    leading: () => chat({ host: slow, headers: config(cached) }),
    following: () => chat({ host: slow, headers: config(cached) }),
  };
  // A model's tools, of which one never answers: its first round is over and recorded.
  const [model, tools] = await Promise.all([
    startScriptedModel(),
    startLegacyUpstream({ makeServer: () => fixtureServer({ writes: 0, cancelled: 0 }) }),
  ]);
  model.script('slow', [{ calls: [{ name: 'slow' }] }]);
  const { slug } = await saveServer(scenario, freshName('draining'), {
    url: tools.url,
    more: { policy: { request_timeout: 60_000 }, prices: { call: 1 } },
  });
  const agent = await saveAgent(`${slow}/`, { call: 1 });
  const tool = { type: 'mcp', server_label: slug, require_approval: 'never' };
  const asking = [false, true].map(async (stream) => {
    const body = { model: 'slow', input: 'Go', tools: [tool], stream };
    const response = await call('/v1/responses', { body, host: `${model.url}/v1` });
    const { status, headers } = response;
    return { status, headers, ...(await read(response)) };
  });
  const called = () => tools.requests.filter(({ body }) => body?.method === 'tools/call').length;
  await eventually(() => expect(called()).toBe(2));
  const message = { role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'Go' }] };
  const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
  const sent = upstream.requests.length;
  const messaged = call(`/v1/agent/${agent}/`, { body, host: null });
  await upstream.received(sent + 1);
  const before = upstream.requests.length;
  const reads = Object.entries(ways).map(async ([name, ask]) => {
    const response = await ask();
    return [name, { status: response.status, ...(await read(response)) }] as const;
  });
  // All but the one that waits for another.
  await upstream.received(before + reads.length - 1);
  await scenario.stack.part('gateway').stop();
  const told = new Map(await Promise.all(reads));
  for (const [name, { isCut, status, text }] of told) {
    expect(isCut, name).toBe(false);
    expect(text, name).toContain('gateway.draining');
    const isStream = ['translated', 'passed', 'checked', 'hedged', 'recovered'].includes(name);
    expect(status, name).toBe(isStream ? 200 : 503);
    expect(text, name).not.toMatch(/\[DONE\]|message_stop/);
    if (isStream) expect(text, name).toContain('<1>');
  }
  const [whole, streamed] = await Promise.all(asking);
  await Promise.all([model.close(), tools.close()]);
  // The tool may have been called: nobody repeats that unasked.
  expect([whole?.status, whole?.headers.get('x-should-retry')]).toEqual([503, 'false']);
  expect(whole?.text).toContain('gateway.draining');
  expect(streamed?.isCut).toBe(false);
  expect(streamed?.text).toMatch(/event: error\ndata: .*gateway\.draining.*\n\n$/);
  const ofAgent = await messaged;
  expect([ofAgent.status, await ofAgent.text()]).toEqual([
    503,
    expect.stringContaining('gateway.draining'),
  ]);
  for (const answer of [whole, streamed, ofAgent])
    withTools.add(answer?.headers.get('x-service-request-id') ?? '');
  const outcomesOf = (name: string) =>
    records
      .all()
      .filter(({ requestId, endpoint }) => endpoint === name && withTools.has(uuidText(requestId)))
      .map(({ outcome }) => usage.Outcome[outcome]);
  await eventually(() => {
    expect(outcomesOf('createModelResponse')).toEqual(['SUCCESS', 'SUCCESS']);
    expect(outcomesOf('mcp:tool_call')).toEqual(['GATEWAY_ERROR', 'GATEWAY_ERROR']);
    expect(outcomesOf('agent:send_message')).toEqual(['GATEWAY_ERROR']);
  });
  // What was asked may have been done: a cent each, as when a caller leaves or the gateway dies.
  const isOfServers = ({ provider }: usage.UsageRecord) =>
    provider === 'mcp' || provider === 'agent';
  const calls = records.all().filter((record) => isOfServers(record) && record.costNanoUsd > 0n);
  expect(calls.map(({ costNanoUsd }) => costNanoUsd)).toEqual([cent, cent, cent]);
  expect(told.get('translated')?.text).toMatch(/\n\nevent: error\ndata: .*\n\n$/);
  await eventually(() =>
    expect(outcomesSince(known)).toEqual({ PARTIAL: 5, GATEWAY_ERROR: reads.length - 5 }),
  );
  expect(freshSince(known).filter(({ errorCode }) => errorCode !== 'gateway.draining')).toEqual([]);
});
