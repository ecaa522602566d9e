import { json } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scenario, startScenario } from '../scenario.ts';

/** What a caller, with an upstream of their own, can make of the operators' metrics. */

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario.stop());

const scrape = async () => (await fetch(scenario.stack.gatewayMetricsUrl)).text();

describe('metrics', () => {
  it('are on no port that callers reach', async () => {
    const { gatewayUrls, controlPlaneUrl, credentials } = scenario.stack;
    for (const path of ['/metrics', '/v1/metrics', '/v1/proxy/metrics', '/docs/metrics'])
      expect((await fetch(`${gatewayUrls[0]}${path}`)).status).not.toBe(200);
    const headers = { 'x-service-api-key': credentials.admin_key };
    expect((await fetch(`${controlPlaneUrl}/metrics`, { headers })).status).toBe(404);
  });

  it('do not grow by the statuses of a caller’s own upstream, nor by anything else of a request', async () => {
    scenario.upstream.handle((request) => json(Number(request.headers['x-status'] ?? 200), {}));
    const before = (await scrape()).split('\n').length;
    // 407 is the one status that fetch takes for a failure of the network.
    const statuses = Array.from({ length: 300 }, (_, index) => 200 + index).filter(
      (status) => status !== 407,
    );
    const providers = ['openai', 'groq', 'deepseek', 'together-ai', 'mistral-ai', 'cohere'];
    for (let index = 0; index < statuses.length; index += 20)
      await Promise.all(
        statuses.slice(index, index + 20).map(async (status) => {
          const response = await scenario.chat({
            headers: {
              'x-status': String(status),
              'x-service-forward-headers': 'x-status',
              'x-service-provider': providers[status % providers.length] as string,
              'x-service-trace-id': `trace-${status}`,
              'x-service-metadata': `{"team":"t${status}"}`,
            },
          });
          await response.arrayBuffer();
        }),
      );
    const text = await scrape();
    const after = text.split('\n').length;
    expect(after - before).toBeLessThan(700);
    expect(after).toBeLessThan(2000);
    expect(text).toContain('code="4xx"');
  });
});
