import { json, type RecordedRequest, refuseMessages } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatBody, chatReply, type Scenario, startScenario } from './scenario.ts';

/** An upstream that refuses what its vendor refuses, asked by callers who know nothing of its rules. */
let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario.stop());

function asVendor(): void {
  scenario.upstream.handle((request) => {
    const refusal = refuseMessages(request.json());
    if (refusal !== undefined) return json(refusal.status, refusal.body);
    return json(200, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    });
  });
}

const asked = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hi' },
    { role: 'developer', content: 'From now on, in French.' },
    { role: 'user', content: 'Again' },
  ],
  temperature: 0.2,
  reasoning_effort: 'xhigh',
  tools: [
    {
      type: 'function',
      function: {
        name: 'f',
        strict: true,
        parameters: { type: 'object', properties: { n: { type: 'number', minimum: 1 } } },
      },
    },
  ],
  tool_choice: 'required',
};

describe('a request of chat to Claude', () => {
  it.each([
    [
      'claude-opus-5-5',
      'temperature,tools[0].function.parameters.properties.n.minimum,tool_choice',
    ],
    ['claude-opus-4-8', 'temperature,tools[0].function.parameters.properties.n.minimum'],
    [
      'claude-sonnet-4-6',
      'reasoning_effort,temperature,tools[0].function.parameters.properties.n.minimum',
    ],
  ])('is served by %s, and what had to change is named', async (model, named) => {
    asVendor();
    const headers = { 'x-service-provider': 'anthropic' };
    const response = await scenario.chat({ headers, body: { model, ...asked } });
    expect([response.status, await response.json()]).toMatchObject([200, {}]);
    expect(response.headers.get('x-service-dropped-params')).toBe(named);
    const strict = { ...headers, 'x-service-strict-params': 'true' };
    const refused = await scenario.chat({ headers: strict, body: { model, ...asked } });
    expect(refused.status).toBe(400);
  });
});

describe('a native request to Claude', () => {
  const rawBody = `{ "model":"claude-opus-4-8",\n "temperature" : 0.2, "max_tokens":9.0e0,
    "messages":[{"role":"user","content":"q"}] }`;
  const ask = (more: Record<string, string> = {}) =>
    scenario.call('/v1/messages', {
      headers: {
        'x-service-provider': 'anthropic',
        'content-type': 'application/json',
        ...more,
      },
      rawBody,
    });

  it('is served, all its bytes but those of what the model refuses', async () => {
    asVendor();
    const response = await ask();
    expect([response.status, await response.json()]).toMatchObject([200, {}]);
    expect(response.headers.get('x-service-dropped-params')).toBe('temperature');
    const sent = scenario.upstream.requests.at(-1)?.body.toString();
    expect(sent).toBe(rawBody.replace('\n "temperature" : 0.2,', ''));
    expect((await ask({ 'x-service-strict-params': 'true' })).status).toBe(400);
  });
});

describe('adapt', () => {
  const refused = (name: string) =>
    json(400, {
      error: { message: `Unsupported parameter: '${name}' is not supported.`, param: name },
    });
  /** Refuses what it does not know, one at a time, as vendors do. */
  const knowing =
    (...unknown: string[]) =>
    (request: RecordedRequest) => {
      const name = unknown.find((key) => Object.hasOwn(request.json() as object, key));
      return name === undefined ? json(200, chatReply) : refused(name);
    };
  const asking = (config: object, body: object, more: Record<string, string> = {}) =>
    scenario.chat({
      headers: { 'x-service-config': JSON.stringify(config), ...more },
      body: { ...chatBody, ...body },
    });
  const on = { adapt: true };

  it('asks once more without what was refused by name, and names it', async () => {
    scenario.upstream.handle(knowing('seed'));
    const before = scenario.upstream.requests.length;
    const response = await asking(on, { seed: 7, top_p: 1 });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
    expect(response.headers.get('x-service-dropped-params')).toBe('seed');
    const sent = scenario.upstream.requests.slice(before).map((request) => request.json());
    expect(sent).toEqual([
      { ...chatBody, seed: 7, top_p: 1 },
      { ...chatBody, top_p: 1 },
    ]);
    const metrics = await (await fetch(scenario.stack.gatewayMetricsUrl)).text();
    expect(metrics).toMatch(/^sluice_adapted_requests\{[^}]*parameter="seed"[^}]*\} [1-9]/m);
  });

  it('asks once more, and not again', async () => {
    scenario.upstream.handle(knowing('seed', 'top_p'));
    const before = scenario.upstream.requests.length;
    const response = await asking(on, { seed: 7, top_p: 1 });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'top_p' } });
    expect(scenario.upstream.requests).toHaveLength(before + 2);
  });

  it.each([
    ['is off by default', {}, {}],
    ['gives way to strict params', on, { 'x-service-strict-params': 'true' }],
  ])('%s', async (_, config, headers) => {
    scenario.upstream.handle(knowing('seed'));
    const before = scenario.upstream.requests.length;
    expect((await asking(config, { seed: 7 }, headers)).status).toBe(400);
    expect(scenario.upstream.requests).toHaveLength(before + 1);
  });

  it('keeps no answer to less than was asked', async () => {
    scenario.upstream.handle(knowing('seed'));
    const cached = { ...on, cache: { mode: 'simple' } };
    const body = { seed: 8, messages: [{ role: 'user', content: 'kept?' }] };
    for (const _ of [1, 2]) {
      const response = await asking(cached, body);
      expect(response.headers.get('x-service-dropped-params')).toBe('seed');
      expect(response.headers.get('x-service-cache-status')).toBe('MISS');
      await response.arrayBuffer();
    }
  });
});
