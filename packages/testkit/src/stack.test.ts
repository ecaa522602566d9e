import { afterAll, beforeAll, expect, it } from 'vitest';
import { bringAllBack } from './bring-back.ts';
import { eventually, startStack, type TestStack } from './index.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ processes: true, gateways: 2, nats: true, redis: true });
});
afterAll(() => stack.stop());

function ask(origin: string | undefined): Promise<Response> {
  return fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': stack.credentials.workspace_key,
    },
    body: JSON.stringify({
      model: '@demo/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  });
}

it('runs all parts with a real NATS and Redis, and every gateway answers', async () => {
  expect(stack.gatewayUrls).toHaveLength(2);
  // Which may be asked for a key before they have had time to hear of it.
  for (const origin of stack.gatewayUrls)
    await eventually(async () => (await ask(origin)).status === 200);
  expect((await fetch(`${stack.controlPlaneUrl}/health`)).status).toBe(200);
  expect((await fetch(`${stack.dataServiceUrl}/health`)).status).toBe(200);
});

it('kills one part, leaves it down, and brings it back on its port', async () => {
  const gateway = stack.part('gateway');
  await gateway.kill();
  expect(gateway.pid).toBeUndefined();
  await expect(ask(stack.gatewayUrls[0])).rejects.toThrow();
  await gateway.start();
  await eventually(async () => (await ask(stack.gatewayUrls[0])).status === 200);
});

it('brings back after a test that failed what it killed, hung, or had begun to stop', async () => {
  const parts = (['data-service', 'control-plane', 'gateway'] as const).map((name) =>
    stack.part(name),
  );
  const [killed, hung, stopping] = parts;
  await killed?.kill();
  process.kill(hung?.pid ?? 0, 'SIGSTOP');
  const stopped = stopping?.stop();
  await bringAllBack();
  await stopped;
  for (const { name, pid } of parts) expect(pid, name).toBeGreaterThan(0);
  for (const origin of [stack.controlPlaneUrl, stack.dataServiceUrl, stack.gatewayUrls[0]])
    expect((await fetch(`${origin}/health/live`)).status).toBe(200);
});
