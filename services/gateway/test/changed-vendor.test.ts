import { json, type RecordedRequest, refuseGemini, refuseMessages } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, type Scenario, startScenario } from './scenario.ts';

/**
 * A conversation over `/v1/messages` whose turns are answered by Gemini and by
 * Claude, both of which refuse what the other one wrote.
 */
let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
  scenario.upstream.handle(answer);
});
afterAll(() => scenario.stop());

const signature = 'c2lnbmF0dXJl';
const own = { type: 'thinking', thinking: 'Mine.', signature: 'Q2xhdWRl' };

function answer({ path, json: body }: RecordedRequest) {
  const isGemini = path.includes('generateContent');
  const refusal = isGemini ? refuseGemini('gemini-3-pro-preview', body()) : refuseMessages(body());
  if (refusal !== undefined) return json(refusal.status, refusal.body);
  return json(200, isGemini ? geminiReply : claudeReply);
}

const geminiReply = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          { functionCall: { name: 'f', args: {} }, thoughtSignature: signature },
        ],
      },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  responseId: 'rsp',
};
const claudeReply = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [own, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }],
  stop_reason: 'tool_use',
  usage: { input_tokens: 1, output_tokens: 1 },
};

interface Block {
  type: string;
  id?: string;
}
const tools = [{ name: 'f', input_schema: { type: 'object', properties: {} } }];
const start: unknown[] = [{ role: 'user', content: 'Begin.' }];

function ask(provider: 'google' | 'anthropic', messages: unknown[], strict = false) {
  const model = provider === 'google' ? 'gemini-3-pro-preview' : 'claude-sonnet-4-5';
  return scenario.call('/v1/messages', {
    body: {
      model,
      max_tokens: 4096,
      messages,
      tools,
      thinking: { type: 'enabled', budget_tokens: 2048 },
    },
    headers: {
      'x-service-provider': provider,
      ...(strict ? { 'x-service-strict-params': 'true' } : {}),
    },
  });
}

/** The turn, answered, and what is said next. */
async function turn(provider: 'google' | 'anthropic', messages: unknown[]) {
  const response = await ask(provider, messages);
  const body = (await response.json()) as { content?: Block[] };
  expect([response.status, body]).toEqual([200, expect.anything()]);
  const { content = [] } = body;
  const results = content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'done' }));
  const next = [...messages, { role: 'assistant', content }, { role: 'user', content: results }];
  return { next, dropped: response.headers.get('x-service-dropped-params') };
}

const lastSent = () => scenario.upstream.requests.at(-1)?.body.toString() ?? '';

describe('a conversation that changes vendors within a tool loop', () => {
  it('goes on at Claude, natively, with what Gemini wrote left out and named', async () => {
    const first = await turn('google', start);
    const second = await turn('anthropic', first.next);
    expect(lastSent()).not.toContain('google:');
    expect(second.dropped).toBe('messages[1].thinking,thinking');
  });

  it('goes on at Gemini, and back again, each with its own', async () => {
    const first = await turn('google', start);
    const second = await turn('anthropic', first.next);
    const third = await turn('google', second.next);
    expect(lastSent()).toContain(`"thoughtSignature":"${signature}"`);
    expect(lastSent()).not.toContain(own.signature);
    await turn('anthropic', third.next);
    expect(lastSent()).toContain(own.signature);
    expect(lastSent()).not.toContain(signature);
  });

  it('is refused before it is sent where nothing may be left out', async () => {
    const { next } = await turn('google', start);
    const seen = scenario.upstream.requests.length;
    expect(await errorOf(await ask('anthropic', next, true))).toMatchObject({
      status: 400,
      message: expect.stringContaining('messages[1].thinking'),
    });
    expect(scenario.upstream.requests).toHaveLength(seen);
  });

  it('reaches Claude byte for byte where Claude alone was part of it', async () => {
    const { next } = await turn('anthropic', start);
    const rawBody = `{"model":"claude-sonnet-4-5",  "max_tokens":4096,"tools":${JSON.stringify(tools)},
      "thinking":{"type":"enabled","budget_tokens":2048},"messages":${JSON.stringify(next)}}`;
    const response = await scenario.call('/v1/messages', {
      rawBody,
      headers: { 'x-service-provider': 'anthropic' },
    });
    await response.arrayBuffer();
    expect(response.headers.get('x-service-dropped-params')).toBeNull();
    expect(lastSent()).toBe(rawBody);
  });
});

describe('a chat client that gives back only what the standard has', () => {
  it('reaches Gemini with what proves its call', async () => {
    const model = 'gemini-3-pro-preview';
    const headers = { 'x-service-provider': 'google' };
    const messages: unknown[] = [{ role: 'user', content: 'Once more.' }];
    const first = await scenario.chat({ headers, body: { model, messages } });
    const { choices } = (await first.json()) as {
      choices: [
        {
          message: { tool_calls: [{ id: string; function: { name: string; arguments: string } }] };
        },
      ];
    };
    const [{ id, function: called }] = choices[0].message.tool_calls;
    const call = {
      id,
      type: 'function',
      function: { name: called.name, arguments: called.arguments },
    };
    const next = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: id, content: 'done' },
    ];
    const second = await scenario.chat({ headers, body: { model, messages: next } });
    await second.arrayBuffer();
    expect(second.status).toBe(200);
    expect(lastSent()).toContain(`"thoughtSignature":"${signature}"`);
  });
});
