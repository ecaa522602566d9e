import { json, type RecordedRequest, sse, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatBody, chatReply } from '../scenario.ts';
import { type AgentLab, type SavedAgent, startAgentLab } from './agent-lab.ts';

/** Who pays for what an agent used: it says so itself, and calls through the gateway say so, too. */
let lab: AgentLab;
let agent: Upstream;
let inner: Upstream;
let hook: Upstream;
let saved: SavedAgent;
/** Of the agents themselves, who are no callers of theirs. */
let agentKey: string;

/** Nano-dollars: a token that an agent tells, and one of `chatReply`. */
const perToken = 10_000;
const perChat = 1000 * 150 + 500 * 600;
const prices = { token: perToken / 1e7 };

beforeAll(async () => {
  [lab, agent, inner, hook] = await Promise.all([
    startAgentLab({ gateways: 2, redis: true }),
    startUpstream(),
    startUpstream(),
    startUpstream(),
  ]);
  lab.scenario.upstream.handle(json(200, chatReply));
  agentKey = await lab.newKey({ scopes: ['completions.write', 'agents.invoke'] });
  saved = await save('max');
});
afterAll(() => Promise.all([lab.stop(), agent.close(), inner.close(), hook.close()]));

const save = (bill: string, more: object = {}, at = agent) =>
  lab.save(`${at.url}/base`, { configurations: { bill, prices, ...more } });

/** What OpenTelemetry hands on of a trace. */
const traced = ({ headers }: Pick<RecordedRequest, 'headers'>) =>
  Object.fromEntries(
    ['traceparent', 'tracestate'].flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

/** A model that somebody asks, at either gateway. */
async function chat(headers: Record<string, string>, gateway = 0, key = agentKey) {
  const answer = await lab.scenario.chat({ headers, gateway, key, body: chatBody });
  expect(answer.status).toBe(200);
  await answer.text();
  return answer;
}

const used = (tokens: number) => ({ usage: { input_tokens: tokens } });
let tasks = 0;
const message = { kind: 'message', messageId: 'm', role: 'user', parts: [] };
const answerOf = (value: object) => json(200, { jsonrpc: '2.0', id: 'call-1', result: value });
const task = (id: string, tokens: number, state = 'completed') => ({
  kind: 'task',
  id,
  contextId: `c-${id}`,
  status: { state },
  metadata: used(tokens),
});
const send = (to: SavedAgent, over: object = {}) =>
  lab.rpc(to.slug, 'message/send', { message }, over);

interface Bill {
  readonly by: string;
  readonly partial?: boolean;
  readonly reported: { readonly input_tokens: number; readonly cost_nano_usd: number };
  readonly elsewhere: { readonly input_tokens: number; readonly cost_nano_usd: number };
}

/** Cost and tokens of the record, and what it says of them. */
async function recordOf(answer: Response) {
  expect(answer.status).toBe(200);
  await answer.text();
  const id = answer.headers.get('x-service-request-id') ?? '';
  const [record, ...more] = await lab.records.of(id, 1);
  expect(more).toEqual([]);
  const decision = JSON.parse(record?.decisionJson || '{}') as { bill?: Bill };
  return {
    cost: Number(record?.costNanoUsd),
    tokens: Number(record?.inputTokens),
    bill: decision.bill,
    traceId: record?.traceId,
  };
}
const costOf = async (answer: Promise<Response>) => (await recordOf(await answer)).cost;

/** An agent that asks a model so often, at both gateways in turn, and then tells what it used. */
function asking(times: number, tokens: number, over: { drops?: boolean } = {}) {
  return async (request: RecordedRequest) => {
    for (let time = 0; time < times; time++)
      await chat(over.drops === true ? {} : traced(request), time % 2);
    return answerOf({ ...message, messageId: 'a', metadata: used(tokens) });
  };
}

describe('what an agent reports', () => {
  it.each([
    ['reported', 100, 100 * perToken, 100],
    ['children', 100, 0, 0],
    ['max', 100, 100 * perToken - 2 * perChat, 0],
    ['max', 5000, 5000 * perToken - 2 * perChat, 3000],
    ['max', 20, 0, 0],
  ])('is billed as the integration has it: %s of %i tokens', async (bill, told, cost, tokens) => {
    const one = await save(bill);
    agent.handle(asking(2, told));
    const record = await recordOf(await send(one));
    expect([record.cost, record.tokens]).toEqual([cost, tokens]);
    if (bill === 'reported') return expect(record.bill).toBeUndefined();
    expect(record.bill).toMatchObject({
      by: bill,
      reported: { input_tokens: told, cost_nano_usd: told * perToken },
      elsewhere: { cost_nano_usd: told * perToken - cost, input_tokens: told - tokens },
    });
    expect(record.bill).not.toHaveProperty('partial');
  });

  it('costs its price a call whatever its own calls come to', async () => {
    const one = await save('max', { prices: { ...prices, call: 2 } });
    agent.handle(asking(1, 10));
    expect(await costOf(send(one))).toBe(2 * 1e7);
  });

  it('is in one trace with its own calls, also of a caller who began none', async () => {
    let own: Response | undefined;
    agent.handle(async (request) => {
      own = await chat(traced(request));
      return answerOf({ ...message, messageId: 'a', metadata: used(1) });
    });
    const { traceId } = await recordOf(await send(saved));
    const id = own?.headers.get('x-service-request-id') ?? '';
    const [record] = await lab.records.of(id, 1);
    expect([record?.traceId, traceId]).toEqual([traceId, expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });

  it('is billed whole of an agent that drops the trace', async () => {
    agent.handle(asking(2, 100, { drops: true }));
    expect(await costOf(send(saved))).toBe(100 * perToken);
  });

  it('of a stream is what exceeds the calls that were made while it went on', async () => {
    const id = `stream-${++tasks}`;
    const event = (value: object) => ({ jsonrpc: '2.0', id: 'call-1', result: value });
    const first = { ...task(id, 30, 'working'), metadata: undefined };
    agent.handle((request) => ({
      async send(response) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify(event(first))}\n\n`);
        await chat(traced(request), 1);
        response.end(`data: ${JSON.stringify(event(task(id, 200)))}\n\n`);
      },
    }));
    const answer = lab.rpc(saved.slug, 'message/stream', { message });
    expect(await costOf(answer)).toBe(200 * perToken - perChat);
  });

  it('of models that stream is told before they have ended', async () => {
    lab.scenario.upstream.handle(
      sse([
        { ...chatReply, object: 'chat.completion.chunk', choices: [], usage: chatReply.usage },
        '[DONE]',
      ]),
    );
    try {
      agent.handle(async (request) => {
        const headers = traced(request);
        const body = { ...chatBody, stream: true };
        const answers = [0, 1].map((gateway) =>
          lab.scenario.chat({ headers, gateway, key: agentKey, body }).then((got) => got.text()),
        );
        await Promise.all(answers);
        return answerOf({ ...message, messageId: 'a', metadata: used(150) });
      });
      for (let time = 0; time < 5; time++)
        expect(await costOf(send(saved))).toBe(150 * perToken - 2 * perChat);
    } finally {
      lab.scenario.upstream.handle(json(200, chatReply));
    }
  });
});

describe('a task that lives on', () => {
  it('is billed by its increase, less what its calls came to meanwhile, wherever it is looked at', async () => {
    const id = `polled-${++tasks}`;
    let trace: Record<string, string> = {};
    agent.handle((request) => {
      trace = traced(request);
      return answerOf(task(id, 100, 'working'));
    });
    const costs = [await costOf(send(saved))];
    const look = async (tokens: number, gateway: number) => {
      agent.handle(answerOf(task(id, tokens, 'working')));
      costs.push(await costOf(lab.rpc(saved.slug, 'tasks/get', { id }, { gateway })));
    };
    await chat(trace, 1);
    await chat(trace, 0);
    await look(100, 1); // nothing new
    await look(130, 1); // 300,000 of 900,000
    await look(150, 0); // 200,000 more
    await chat(trace, 1);
    await look(400, 1); // 2,500,000 less 400,000 and 450,000
    await look(400, 0);
    expect(costs).toEqual([100 * perToken, 0, 0, 0, 2_500_000 - 850_000, 0]);
    // A further message goes on with the same task.
    agent.handle(async (request) => {
      await chat(traced(request), 1);
      return answerOf(task(id, 500));
    });
    const further = () => {
      const params = { message: { ...message, taskId: id } };
      return lab.rpc(saved.slug, 'message/send', params, { gateway: 1 });
    };
    expect(await costOf(further())).toBe(100 * perToken - perChat);
    // An answer that names no task leaves what the task's calls came to.
    agent.handle(async (request) => {
      await chat(traced(request));
      return answerOf({ ...message, messageId: 'a', metadata: used(1) });
    });
    expect(await costOf(further())).toBe(0);
    agent.handle(answerOf(task(id, 600)));
    expect(await costOf(further())).toBe(100 * perToken - (perChat - perToken));
  });

  it('is told by a callback for what it adds, which is none of its own calls', async () => {
    const relayed = await save('max', { push_notifications: 'relay' });
    const id = `told-${++tasks}`;
    let seen: RecordedRequest | undefined;
    agent.handle((request) => {
      seen = request;
      return answerOf(task(id, 0, 'working'));
    });
    const pushNotificationConfig = { url: `${hook.url}/hook` };
    const params = { message, configuration: { blocking: false, pushNotificationConfig } };
    await (await lab.rpc(relayed.slug, 'message/send', params)).text();
    const trace = traced(seen ?? expect.fail());
    await chat(trace);
    const { configuration } = JSON.parse(String(seen?.body)).params;
    const { pathname } = new URL(configuration.pushNotificationConfig.url);
    const tell = async (tokens: number, gateway: 0 | 1) => {
      const answer = await fetch(`${lab.scenario.stack.gatewayUrls[gateway]}${pathname}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...trace },
        body: JSON.stringify(task(id, tokens, 'working')),
      });
      return costOf(Promise.resolve(answer));
    };
    expect([await tell(100, 1), await tell(300, 0), await tell(300, 1)]).toEqual([
      100 * perToken - perChat,
      200 * perToken,
      0,
    ]);
    // Who is called back does not learn by what the agent's calls are known.
    for (const { headers } of hook.requests) {
      expect(headers.traceparent).toBe(trace.traceparent);
      expect(headers).not.toHaveProperty('tracestate');
    }
  });
});

describe('two agents, and agents of agents', () => {
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };

  it('each have their own calls, in one trace with the caller’s', async () => {
    agent.handle(asking(1, 100));
    inner.handle(asking(3, 300));
    const other = await save('max', {}, inner);
    await chat(trace);
    const [one, two] = await Promise.all([
      send(saved, { headers: trace }),
      send(other, { headers: trace }),
      chat(trace, 1),
    ]);
    const records = [await recordOf(one), await recordOf(two)];
    expect(records.map(({ cost }) => cost)).toEqual([
      100 * perToken - perChat,
      300 * perToken - 3 * perChat,
    ]);
    expect(new Set(records.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it.each([
    ['max', 120 * perToken - perChat],
    ['reported', 120 * perToken],
  ])('count for all around them: the inner one by %s', async (bill, innerCost) => {
    const within = await save(bill, {}, inner);
    const costs: number[] = [];
    inner.handle(asking(1, 120));
    agent.handle(async (request) => {
      const over = { headers: traced(request), key: agentKey, gateway: 1 };
      costs.push(await costOf(send(within, over)));
      await chat(traced(request));
      return answerOf({ ...message, messageId: 'a', metadata: used(1000) });
    });
    costs.push(await costOf(send(saved)));
    // All that was billed beneath it: the inner agent, its model call, and one of its own.
    expect(costs).toEqual([innerCost, 1000 * perToken - innerCost - 2 * perChat]);
  });
});

describe('a hostile caller', () => {
  it('makes nothing free by a state of his own making, nor by that of a call that he was part of', async () => {
    const traceparent = '00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    let mark = '';
    agent.handle((request) => {
      mark = String(request.headers.tracestate);
      // It says all that it was told.
      return json(
        200,
        {
          jsonrpc: '2.0',
          id: 'call-1',
          result: { ...message, messageId: 'a', metadata: used(100) },
        },
        { tracestate: mark },
      );
    });
    const first = await send(saved);
    expect(first.headers.get('tracestate')).toBeNull();
    await first.text();
    for (const tracestate of ['sluice=AAAA', `sluice=${'A'.repeat(80)}`, `x=1,${mark}`]) {
      const headers = { traceparent, tracestate };
      await chat(headers);
      const record = await recordOf(await send(saved, { headers }));
      expect(record.cost).toBe(100 * perToken);
      // What is not ours goes on, and a fresh mark before it.
      const state = String(agent.requests.at(-1)?.headers.tracestate);
      expect(state).toMatch(tracestate.startsWith('x') ? /^sluice=[^,]+,x=1$/ : /^sluice=[^,]+$/);
      expect(state).not.toContain(tracestate);
    }
  });

  it('shows marks to no provider, and to no agent whose own calls nobody counts', async () => {
    agent.handle(asking(1, 1));
    await (await send(saved)).text();
    const mark = String(agent.requests.at(-1)?.headers.tracestate);
    const before = lab.scenario.upstream.requests.length;
    const headers = { tracestate: `${mark},x=1`, 'x-service-forward-headers': 'tracestate' };
    await chat(headers);
    expect(lab.scenario.upstream.requests[before]?.headers.tracestate).toBe('x=1');
    const plain = await save('reported');
    await (await send(plain, { headers: { tracestate: 'sluice=AAAA,x=1' } })).text();
    expect(agent.requests.at(-1)?.headers.tracestate).toBe('x=1');
  });
});

describe('with Redis away', () => {
  it('what a gateway cannot know is billed, and the record says so', async () => {
    const one = await save('max');
    await lab.scenario.stack.redis?.kill();
    try {
      // One of two calls comes in at the other gateway.
      agent.handle(asking(2, 200));
      const record = await recordOf(await send(one));
      expect(record.cost).toBe(200 * perToken - perChat);
      expect(record.bill).toMatchObject({ by: 'max', partial: true });
    } finally {
      await lab.scenario.stack.redis?.restart();
    }
  });
});
