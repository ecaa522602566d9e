import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, type TestStackOptions } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Scenario, startScenario } from './scenario.ts';

/** As docs/deploy/rotation.md has it: every secret at once, in three rounds, and callers notice nothing. */

const environment = {
  'data-service': {},
  'control-plane': { KEY_MAINTENANCE_INTERVAL: '200' },
  gateway: { DRAIN_TIMEOUT: '5000' },
  'gateway-2': { DRAIN_TIMEOUT: '5000' },
} satisfies TestStackOptions['environment'];
const parts = ['data-service', 'control-plane', 'gateway', 'gateway-2'] as const;

let scenario: Scenario;
/** Gateways that a load balancer would ask. */
const up = new Set([0, 1]);
const outcomes: string[] = [];
const stopping = new AbortController();
let callers: Promise<unknown>;

beforeAll(async () => {
  scenario = await startScenario({ gateways: 2, environment });
});
afterAll(async () => {
  await scenario?.stop();
});

async function calls(key: string): Promise<void> {
  while (!stopping.signal.aborted) {
    const [first = 0, second = first] = [...up];
    const gateway = Math.random() < 0.5 ? first : second;
    // A saved provider: its credentials are sealed under the master key.
    const answer = await scenario
      .chat({ gateway, key, host: null, headers: { 'x-service-provider': '@demo' } })
      .then(
        async (response) =>
          `${response.status} ${response.status === 200 ? '' : await response.text()}`,
        (error: Error) => `no answer: ${error.message}`,
      );
    outcomes.push(answer.trim());
    await delay(20);
  }
}

/** Each part again, one after the other, with these settings beside its own. */
async function rollOut(settings: Record<string, string>): Promise<void> {
  for (const name of parts) {
    Object.assign(environment[name], settings);
    const gateway = name === 'gateway' ? 0 : name === 'gateway-2' ? 1 : undefined;
    if (gateway !== undefined) {
      up.delete(gateway);
      await delay(100);
    }
    await scenario.stack.part(name).stop();
    await scenario.stack.part(name).start();
    if (gateway === undefined) continue;
    const origin = scenario.stack.gatewayUrls[gateway];
    await eventually(async () => expect((await fetch(`${origin}/health/ready`)).status).toBe(200));
    up.add(gateway);
  }
}

async function metric(name: string): Promise<number> {
  const { controlPlaneMetrics } = scenario.stack.ports;
  const text = await (await fetch(`http://127.0.0.1:${controlPlaneMetrics}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{.*\\} (.+)$`, 'm').exec(text)?.[1]);
}

it('master key, pepper, service token and snapshot key are rotated, and no request fails', async () => {
  const { secrets, credentials } = scenario.stack;
  const make = (name: string) =>
    scenario.admin<{ id: string; key: string }>('POST', '/api-keys/workspace/service', {
      name,
      workspace_id: credentials.workspace_id,
      scopes: ['completions.write'],
    });
  const unused = await make('is used by nobody meanwhile');
  // What neither has ever seen is asked of the control plane, which is about to be stopped.
  for (const gateway of [0, 1])
    await eventually(async () => {
      const { status } = await scenario.chat({ gateway, key: credentials.workspace_key });
      expect(status).toBe(200);
    });
  callers = Promise.all([calls(credentials.workspace_key), calls(credentials.workspace_key)]);

  const before = {
    MASTER_KEY: secrets.master_key,
    KEY_PEPPER: secrets.key_pepper,
    SERVICE_CLIENT_AUTH: secrets.service_token,
    SNAPSHOT_KEY: secrets.snapshot_key,
  };
  const after = Object.fromEntries(
    Object.keys(before).map((name) => [name, randomBytes(32).toString('hex')]),
  ) as typeof before;
  const also = (of: Record<string, string>) =>
    Object.fromEntries(Object.entries(of).map(([name, value]) => [`${name}_ALSO`, value]));
  const none = also(Object.fromEntries(Object.keys(before).map((name) => [name, ''])));

  await rollOut({ ...before, ...also(after) });
  await rollOut({ ...after, ...also(before) });
  // All is sealed anew; of the keys that were used nothing is left, and the count says that some were not.
  const left = () => metric('sluice_key_hashes_to_make_anew');
  await eventually(async () => {
    expect(await metric('sluice_secrets_to_seal_anew')).toBe(0);
    expect(await left()).toBeGreaterThan(0);
  });
  await scenario.admin('GET', '/configs');
  await eventually(async () => expect(await left()).toBe(1));
  expect((await scenario.chat({ key: unused.key })).status).toBe(200);
  await eventually(async () => expect(await left()).toBe(0));

  await rollOut({ ...after, ...none });
  expect((await scenario.chat({ key: unused.key })).status).toBe(200);
  await scenario.admin('GET', '/configs');
  stopping.abort();
  await callers;
  expect(outcomes.filter((outcome) => outcome !== '200')).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(100);
});
