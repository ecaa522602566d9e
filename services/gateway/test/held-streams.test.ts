import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { usage } from '@sluice/proto-stubs';
import { eventually, json, sse } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleStreams } from './example-streams.ts';
import { type Lab, startLab } from './lab.ts';
import { chatReply } from './scenario.ts';
import { anthropicEvents, openAiEvents } from './vendor-replies.ts';

/** Guardrails that look at streams before they are given, as the vendors' own clients read what comes. */

let lab: Lab;
/** What the upstream says next, piece by piece; an event each. */
let said: string[] = [];
let pauseMs = 0;

const tellOf = (format: string) => exampleStreams.find((one) => one.format === format)!;

beforeAll(async () => {
  lab = await startLab();
  lab.scenario.upstream.handle(({ path, body }) => {
    if (!body.includes('"stream":true') && path.includes('/chat/completions')) {
      const message = { role: 'assistant', content: said.join('') };
      return json(200, { ...chatReply, choices: [{ index: 0, message, finish_reason: 'stop' }] });
    }
    const events = path.includes('/messages')
      ? anthropicEvents(...said)
      : path.includes('/chat/completions')
        ? openAiEvents(...said)
        : path.includes('/responses')
          ? tellOf('openai-responses').tell(said)
          : path.includes('/completions')
            ? tellOf('openai-completions').tell(said)
            : tellOf('gemini').tell(said);
    return sse(events, { delayMs: pauseMs });
  });
});
afterAll(() => lab.stop());

const lead = 'Some words that stand before it, and take more than one window of what is held. ';
const tail = ' And what follows it, in as many words as it takes for a window to go on its way.';
const redacted = `${lead}{{EMAIL_ADDRESS_1}}${tail}`;
/** In two pieces at an odd place. */
const telling = [lead.slice(0, 30), `${lead.slice(30)}john.smi`, `th@example.com${tail}`];
const forbidden = [lead, lead, 'and the forbidden', ' word', lead, tail];

const held = (more: object) => ({ stream_mode: 'window', hold_chars: 64, ...more });
const redacts = held({ id: 'redacts', 'default.pii': { redact: true } });
const denies = held({
  id: 'denies',
  deny: true,
  'default.regexMatch': { rule: 'forbidden word', not: true },
});

type Provider = 'openai' | 'anthropic';

function headersOf(provider: Provider, guardrail: object, more: object = {}) {
  const config = {
    provider,
    api_key: 'sk-upstream',
    custom_host: `${lab.scenario.upstream.url}/v1`,
    output_guardrails: [guardrail],
    ...more,
  };
  return { 'x-service-config': JSON.stringify(config) };
}

interface Client {
  name: string;
  provider: Provider;
  /** All that is read; throws what the client throws. */
  read(headers: Record<string, string>, onText: (text: string) => void): Promise<void>;
}

const openai = (defaultHeaders: Record<string, string>) =>
  new OpenAI({
    apiKey: lab.scenario.stack.credentials.workspace_key,
    baseURL: lab.scenario.stack.credentials.base_url,
    defaultHeaders,
    maxRetries: 0,
  });
const anthropic = (defaultHeaders: Record<string, string>) =>
  new Anthropic({
    apiKey: lab.scenario.stack.credentials.workspace_key,
    baseURL: lab.scenario.stack.gatewayUrls[0],
    defaultHeaders,
    maxRetries: 0,
  });
const messages = [{ role: 'user' as const, content: 'Hello' }];

const clients: Client[] = (['openai', 'anthropic'] as const).flatMap((provider) => [
  {
    name: 'chat of the openai client',
    provider,
    async read(headers, onText) {
      const stream = await openai(headers).chat.completions.create({
        model: 'm',
        messages,
        stream: true,
      });
      for await (const chunk of stream) onText(chunk.choices[0]?.delta.content ?? '');
    },
  },
  {
    name: 'completions of the openai client',
    provider,
    async read(headers, onText) {
      const asked = { model: 'm', prompt: 'Hello', stream: true as const };
      const stream = await openai(headers).completions.create(asked);
      for await (const chunk of stream) onText(chunk.choices[0]?.text ?? '');
    },
  },
  {
    name: 'responses of the openai client',
    provider,
    async read(headers, onText) {
      const stream = openai(headers).responses.stream({ model: 'm', input: 'Hello' });
      let text = '';
      stream.on('response.output_text.delta', ({ delta }) => {
        text += delta;
        onText(delta);
      });
      const whole = await stream.finalResponse();
      expect(whole.output_text).toBe(text);
    },
  },
  {
    name: 'messages of the Anthropic client',
    provider,
    async read(headers, onText) {
      const stream = anthropic(headers).messages.stream({ model: 'm', max_tokens: 9, messages });
      let text = '';
      stream.on('text', (delta) => {
        text += delta;
        onText(delta);
      });
      expect(await stream.finalText()).toBe(text);
    },
  },
]);

async function readBy(client: Client, guardrail: object, more: object = {}) {
  let text = '';
  let error: unknown;
  try {
    await client.read(headersOf(client.provider, guardrail, more), (delta) => {
      text += delta;
    });
  } catch (caught) {
    error = caught;
  }
  return { text, error };
}

describe.each(clients)('$name, $provider behind it', (client) => {
  it('reads a redacted stream to its end', async () => {
    said = telling;
    expect(await readBy(client, redacts)).toEqual({ text: redacted, error: undefined });
  });

  it('raises a denial in the middle as an error of the stream', async () => {
    said = forbidden;
    const { text, error } = await readBy(client, denies);
    expect(forbidden.join('').startsWith(text)).toBe(true);
    expect(text).not.toContain('forbidden');
    expect(error).toBeInstanceOf(Error);
    expect(String((error as Error).message)).toMatch(/guardrail|hooks_failed/);
  });
});

describe('a stream that is denied in the middle', () => {
  const body = { model: 'gpt-4o-mini', messages, stream: true };

  it('ends its call, which is billed and recorded as denied', async () => {
    said = [...forbidden, ...Array.from({ length: 50 }, () => lead)];
    pauseMs = 20;
    const response = await lab.scenario.chat({ body, headers: headersOf('openai', denies) });
    const text = await response.text();
    pauseMs = 0;
    expect(response.status).toBe(200);
    const last = text.trim().split('\n\n').at(-1) ?? '';
    expect(JSON.parse(last.replace('data: ', ''))).toMatchObject({
      error: { type: 'hooks_failed', code: 'guardrail.denied' },
    });
    await eventually(() => expect(lab.scenario.upstream.requests.at(-1)?.aborted).toBe(true));
    const requestId = response.headers.get('x-service-request-id') ?? '';
    const [record] = await lab.records.of(requestId, 1);
    expect(record).toMatchObject({
      outcome: usage.Outcome.DENIED,
      errorCode: 'guardrail.denied',
    });
    expect(record?.outputTokens).toBeGreaterThan(0);
    expect(JSON.parse(record?.decisionJson ?? '{}')).toMatchObject({
      hooks: [{ id: 'denies', event: 'after', verdict: false, deny: true }],
    });
  });

  it('says so among its results where it is not strict, before the error', async () => {
    said = forbidden;
    const headers = headersOf('openai', denies, { strict_open_ai_compliance: false });
    const text = await (await lab.scenario.chat({ body, headers })).text();
    const events = text.trim().split('\n\n');
    expect(JSON.parse(events.at(-2)?.replace('data: ', '') ?? '')).toMatchObject({
      hook_results: { after_request_hooks: [{ id: 'denies', verdict: false, deny: true }] },
    });
    expect(events.at(-1)).toContain('hooks_failed');
    said = [lead, tail];
    const passed = await (await lab.scenario.chat({ body, headers })).text();
    expect(
      JSON.parse(passed.trim().split('\n\n').at(-1)?.replace('data: ', '') ?? ''),
    ).toMatchObject({ hook_results: { after_request_hooks: [{ id: 'denies', verdict: true }] } });
  });
});

describe('what is held back', () => {
  /** An upstream that says the time, and what has come of it by now. */
  async function timed(
    guardrail: object,
    tell: (say: () => void, came: () => number) => Promise<void>,
  ) {
    let told = 0;
    const delays: number[] = [];
    let came = 0;
    const upstream = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = (delta: object, finish_reason: string | null) =>
        response.write(
          `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
        );
      const say = () => {
        const content = `${performance.now().toFixed(1).padStart(12, '0')} `;
        told += content.length;
        event({ content }, null);
      };
      tell(say, () => came).then(() => {
        event({}, 'stop');
        response.end('data: [DONE]\n\n');
      });
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    try {
      const client = openai(
        headersOf('openai', guardrail, { custom_host: `http://127.0.0.1:${port}/v1` }),
      );
      const stream = await client.chat.completions.create({ model: 'm', messages, stream: true });
      let text = '';
      for await (const chunk of stream) {
        const now = performance.now();
        text += chunk.choices[0]?.delta.content ?? '';
        came = text.length;
        // Each word counts when it is whole.
        for (let at = delays.length; (at + 1) * 13 <= text.length; at++)
          delays.push(now - Number(text.slice(at * 13, at * 13 + 12)));
      }
      expect(text.length).toBe(told);
      return delays;
    } finally {
      upstream.close();
    }
  }

  const looks = { 'default.regexMatch': { rule: 'forbidden', not: true }, deny: true };
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it.each(['window', 'sentence'])(
    'goes within hold_ms, also where nothing follows it: %s',
    async (stream_mode) => {
      const holdMs = 400;
      const held = { id: 'late', ...looks, stream_mode, hold_chars: 16_384, hold_ms: holdMs };
      const delays = await timed(held, async (say) => {
        for (let at = 0; at < 60; at++) {
          say();
          await pause(10);
        }
        await pause(5 * holdMs);
      });
      expect(delays).toHaveLength(60);
      const sorted = delays.toSorted((a, b) => a - b);
      // It is held, and goes long before the stream ends, which is when it would go without `hold_ms`.
      expect(sorted[0]).toBeGreaterThan(0.2 * holdMs);
      expect(sorted[30]).toBeLessThan(2 * holdMs);
      expect(sorted[59]).toBeLessThan(4 * holdMs);
    },
  );

  it('is never more than hold_chars, however long it could wait', async () => {
    const chars = 128;
    const held = {
      id: 'much',
      ...looks,
      stream_mode: 'window',
      hold_chars: chars,
      hold_ms: 30_000,
    };
    let said = 0;
    await timed(held, async (say, came) => {
      for (let at = 0; at < 60; at++) {
        say();
        said += 13;
        // Where more is held than that, nothing ever comes.
        await eventually(() => said - came() <= chars);
      }
    });
  });
});

describe('what was taken out of a request', () => {
  const asked = 'Write to john.smith@example.com and to jane@example.org.';
  const body = (stream: boolean) => ({
    model: 'm',
    messages: [{ role: 'user', content: asked }],
    stream,
  });
  const restores = { id: 'restores', 'default.pii': { redact: true, restore: true } };
  const headers = (output: object) => {
    const config = JSON.parse(headersOf('openai', output)['x-service-config']);
    return { 'x-service-config': JSON.stringify({ ...config, input_guardrails: [restores] }) };
  };

  it('is put back into the answer, which nobody else sees, in whatever pieces it comes', async () => {
    said = ['To {{EMAIL_ADD', 'RESS_1}} and {{EMAIL_ADDRESS_2', '}} and {{EMAIL_ADDRESS_3}}.'];
    const meant = 'To john.smith@example.com and jane@example.org and {{EMAIL_ADDRESS_3}}.';
    const response = await lab.scenario.chat({ body: body(true), headers: headers(denies) });
    expect(tellOf('openai-chat').read(await response.text()).said).toBe(meant);
    const sent = lab.scenario.upstream.requests.at(-1)?.body.toString() ?? '';
    expect(sent).toContain('Write to {{EMAIL_ADDRESS_1}} and to {{EMAIL_ADDRESS_2}}.');
    expect(sent).not.toContain('example.com');
    const log = lab.scenario.stack.part('gateway').stderr();
    expect(log).not.toContain('john.smith@example.com');
  });

  it('is put back into JSON, with what a guardrail takes out of the answer left out', async () => {
    said = ['To {{EMAIL_ADDRESS_1}} from new@example.net'];
    const redacting = headers({ 'default.pii': { redact: true } });
    const response = await lab.scenario.chat({ body: body(false), headers: redacting });
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
    expect(choices[0]?.message.content).toBe('To john.smith@example.com from {{EMAIL_ADDRESS_3}}');
  });
});

describe('an enforced guardrail of answers', () => {
  async function enforce(actions: object) {
    const { workspace_id, workspace_slug } = lab.scenario.stack.credentials;
    const { slug } = await lab.scenario.admin<{ slug: string }>('POST', '/guardrails', {
      name: 'Words',
      workspace_id,
      checks: [{ id: 'default.regexMatch', parameters: { rule: 'forbidden word', not: true } }],
      actions: { deny: true, ...actions },
    });
    const path = `/admin/workspaces/${workspace_slug}`;
    await lab.scenario.admin('PUT', path, { defaults: { output_guardrails: [slug] } });
    return () => lab.scenario.admin('PUT', path, { defaults: {} });
  }

  const google = () =>
    new GoogleGenAI({
      apiKey: 'AIza-caller',
      httpOptions: {
        baseUrl: lab.scenario.stack.credentials.base_url.replace(/\/v1$/, '/v1/proxy'),
        apiVersion: 'v1beta',
        headers: {
          'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
          'x-service-provider': 'google',
          'x-service-custom-host': lab.scenario.upstream.url,
        },
      },
    });

  async function generate() {
    let text = '';
    const stream = await google().models.generateContentStream({ model: 'g', contents: 'Hello' });
    for await (const chunk of stream) text += chunk.text ?? '';
    return text;
  }

  it('stops what Gemini says in its own stream, and no config undoes it', async () => {
    const release = await enforce({ stream_mode: 'window', hold_chars: 64 });
    said = [lead, tail];
    expect(await generate()).toBe(lead + tail);
    said = forbidden;
    await expect(generate()).rejects.toThrow(/guardrail/);
    const harmless = { id: 'own', stream_mode: 'end', 'default.regexMatch': { rule: '.' } };
    const body = { model: 'm', messages, stream: true };
    const headers = headersOf('openai', harmless);
    const text = await (await lab.scenario.chat({ body, headers })).text();
    expect(text).toContain('hooks_failed');
    expect(text).not.toContain('forbidden word');
    expect(text).not.toContain('DONE');
    await release();
  });

  it('tells of a stream when it is given, unless it is told to hold it', async () => {
    const release = await enforce({});
    said = forbidden;
    const body = { model: 'm', messages, stream: true };
    const text = await (await lab.scenario.chat({ body })).text();
    expect(text).toBe(openAiEvents(...forbidden).join(''));
    await expect(generate()).rejects.toThrow(/446|hooks_failed/);
    await release();
  });
});
