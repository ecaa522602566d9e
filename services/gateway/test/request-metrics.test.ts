import { json } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatBody, chatReply, type Scenario, startScenario } from './scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario({
    environment: { gateway: { PROMETHEUS_INCLUDE_MODEL_LABEL: 'true' } },
  });
});
afterAll(() => scenario.stop());

it('each part of a request’s time is in its metric, and no part that there was not', async () => {
  const { stack, upstream, admin } = scenario;
  upstream.handle(() => json(200, chatReply));
  const { key } = await admin<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: 'limited',
    workspace_id: stack.credentials.workspace_id,
    scopes: ['completions.write'],
    rate_limits: [{ type: 'requests', unit: 'rpd', value: 5 }],
  });
  const cache = { 'x-service-config': '{"cache":{"mode":"simple"}}' };
  const body = (content: string) => ({ ...chatBody, messages: [{ role: 'user', content }] });
  // Called; called within a limit; kept, and given again.
  for (const call of [
    { body: body('a') },
    { body: body('b'), key },
    { body: body('c'), headers: cache },
    { body: body('c'), headers: cache },
  ])
    expect((await scenario.chat(call)).status).toBe(200);
  // Refused before it is known who calls.
  expect((await scenario.chat({ key: 'unknown-key' })).status).toBe(401);

  const text = await (await fetch(stack.gatewayMetricsUrl)).text();
  const counts = Object.fromEntries(
    [
      'service_request',
      'authentication',
      'api_key_rate_limit_check',
      'pre_request_processing',
      'llm_cache_processing',
      'post_request_processing',
    ].map((part) => [part, sumOf(text, `${part}_duration_milliseconds_count`)]),
  );
  expect(counts).toEqual({
    service_request: 5,
    authentication: 4,
    api_key_rate_limit_check: 1,
    pre_request_processing: 3,
    llm_cache_processing: 2,
    post_request_processing: 3,
  });
  expect(sumOf(text, 'llm_token_sum_total')).toBe(3 * 1500);
  expect(sumOf(text, 'llm_token_sum_total', 'model="gpt-4o-mini"')).toBe(3 * 1500);
  expect(sumOf(text, 'request_count', 'model=""')).toBe(1);
});

function sumOf(text: string, name: string, label = ''): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
