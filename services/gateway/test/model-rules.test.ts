import { json, type RecordedRequest, refuseMessages } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepingPrefixes } from './prefix-cache.ts';
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

describe('the beginning of a prompt', () => {
  const keys = ['sk-one', 'sk-two', 'sk-three'];
  const targets = keys.map((api_key) => ({ provider: 'anthropic', api_key }));
  const byPrompt = { enabled: true, hash_fields: ['prompt.prefix'] };
  const marked = { prompt_cache: { breakpoints: 'auto' } };
  const balanced = (sticky?: object) => ({
    strategy: { mode: 'loadbalance', ...(sticky === undefined ? {} : { sticky }) },
    targets,
  });
  const asking = (config: object): { headers: Record<string, string>; host: null } => ({
    headers: {
      'x-service-config': JSON.stringify(config),
      'x-service-custom-host': `${scenario.upstream.url}/v1`,
    },
    host: null,
  });
  const model = 'claude-opus-4-5';
  const user = (content: string) => ({ role: 'user', content });

  /** Some conversations at once, each of some turns; what of their tokens was read from a cache, and what they cost. */
  async function converse(config: object) {
    scenario.upstream.handle(keepingPrefixes());
    let [sent, read, cents] = [0, 0, 0];
    const talks = Array.from({ length: 8 }, (_, number) => [
      user(`Question ${number}. ${'What do you know of it? '.repeat(200)}`),
    ]);
    for (let turn = 0; turn < 6; turn++)
      for (const messages of talks) {
        const body = { model, max_tokens: 100, system: 'Be brief.', messages };
        const response = await scenario.call('/v1/messages', { ...asking(config), body });
        expect(response.status).toBe(200);
        const { usage } = (await response.json()) as { usage: Record<string, number> };
        const { input_tokens: plain = 0, cache_read_input_tokens: cached = 0 } = usage;
        sent += plain + cached + (usage.cache_creation_input_tokens ?? 0);
        read += cached;
        cents += Number(response.headers.get('x-service-cost'));
        messages.push({ role: 'assistant', content: 'Yes.' }, user('And then? '.repeat(400)));
      }
    return { share: read / sent, cents };
  }

  const readTokens = async () => {
    const text = await (await fetch(scenario.stack.gatewayMetricsUrl)).text();
    const line = /^sluice_prompt_tokens\{(?=[^}]*"anthropic")(?=[^}]*"read")[^}]*\} (\d+)/m;
    return Number(line.exec(text)?.[1] ?? 0);
  };

  it('is read from the cache of its provider where it is marked, and its conversation stays', async () => {
    const plain = await converse(balanced());
    const before = await readTokens();
    const scattered = await converse({ ...balanced(), ...marked });
    const kept = await converse({ ...balanced(byPrompt), ...marked });
    expect(plain.share).toBe(0);
    expect(kept.share).toBeGreaterThan(0.6);
    expect(kept.share).toBeGreaterThan(1.2 * scattered.share);
    expect(kept.cents).toBeLessThan(0.75 * plain.cents);
    expect(await readTokens()).toBeGreaterThan(before);
  });

  it('decides who is asked, also behind a fallback, and the next when that one fails', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [balanced(byPrompt), { provider: 'anthropic', api_key: 'sk-four' }],
    };
    const messages = [user('Is it?')];
    const ask = async (refused?: string) => {
      scenario.upstream.handle(keepingPrefixes((key) => key === refused));
      const body = { model, max_tokens: 100, messages };
      const response = await scenario.call('/v1/messages', { ...asking(config), body });
      await response.arrayBuffer();
      messages.push({ role: 'assistant', content: 'Yes.' }, user('Sure?'));
      const path = response.headers.get('x-service-last-used-option-index');
      return { path, key: String(scenario.upstream.requests.at(-1)?.headers['x-api-key']) };
    };
    const first = await ask();
    expect(keys).toContain(first.key);
    expect(await ask(first.key)).toEqual({ path: 'config.targets[1]', key: 'sk-four' });
    expect(await ask()).toEqual(first);
    const body = { model, max_tokens: 100, messages };
    const explained = await scenario.call('/v1/explain/messages', { ...asking(config), body });
    const { choices } = (await explained.json()) as { choices: { order?: number[] }[] };
    expect(choices[1]).toMatchObject({ reason: 'prompt', picked: keys.indexOf(first.key) });
    expect(choices[1]?.order).toHaveLength(keys.length);
  });
});
