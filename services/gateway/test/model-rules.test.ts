import { json, refuseMessages } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scenario, startScenario } from './scenario.ts';

/** An upstream that refuses what its vendor refuses, asked by callers who know nothing of its rules. */
let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
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
});
afterAll(() => scenario.stop());

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
    const headers = { 'x-service-provider': 'anthropic' };
    const response = await scenario.chat({ headers, body: { model, ...asked } });
    expect([response.status, await response.json()]).toMatchObject([200, {}]);
    expect(response.headers.get('x-service-dropped-params')).toBe(named);
    const strict = { ...headers, 'x-service-strict-params': 'true' };
    const refused = await scenario.chat({ headers: strict, body: { model, ...asked } });
    expect(refused.status).toBe(400);
  });
});
