import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProvider, providerIds } from '@sluice/providers';
import { eachWith, isLongForm, json } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply, type Scenario, startScenario } from '../scenario.ts';
import { Attack, type Case, promises, tell } from './attack.ts';
import { type Bystander, startBystander } from './bystander.ts';
import { headerPayloads, jsonPayloads, type Payload } from './payloads.ts';
import {
  bodyPlaces,
  boundaryPlaces,
  configPlaces,
  formPlaces,
  headerPlaces,
  ownHeaders,
  type Place,
  repeatedHeaderPlaces,
} from './places.ts';

/**
 * Every place where a stranger's text comes in × every payload, while another
 * tenant's plain requests are timed. `npm run abuse` sends all of them and
 * large ones; the suite as many as meet each place and each payload.
 */
const isWhole = isLongForm;
/** All headers of a request share 64 KiB. */
const headerBytes = 60_000;
const bodyBytes = isWhole ? 1_000_000 : 200_000;

let scenario: Scenario;
let bystander: Bystander;
let attack: Attack;
beforeAll(async () => {
  scenario = await startScenario({
    processes: ['gateway'],
    // Addresses are part of the payloads: whatever cannot be reached is given up soon.
    environment: { gateway: { REQUEST_TIMEOUT: '2000', STREAM_IDLE_TIMEOUT: '2000' } },
  });
  scenario.upstream.handle(json(200, chatReply));
  bystander = await startBystander(scenario);
  attack = new Attack(scenario, bystander);
});
afterAll(async () => {
  await attack?.close();
  await bystander?.stop();
  await scenario?.stop();
});

function casesOf(places: readonly Place[], payloads: readonly Payload[]): Case[] {
  return eachWith(places, payloads).map(([place, payload]) => ({
    name: `${place.name} ← ${payload.name}`,
    request: () => place.request(payload.text),
  }));
}

describe('each place × each payload', () => {
  const timeout = isWhole ? 900_000 : 120_000;
  const origin = () => scenario.upstream.url;

  const inputs: [string, () => Case[]][] = [
    ['request headers', () => casesOf(headerPlaces(origin()), headerPayloads(headerBytes))],
    ['repeated headers', () => casesOf(repeatedHeaderPlaces(origin()), headerPayloads(500))],
    ['keys of configs', () => casesOf(configPlaces(origin()), jsonPayloads(headerBytes - 500))],
    ['fields of forms', () => casesOf(formPlaces(origin()), jsonPayloads(bodyBytes))],
    ['boundaries', () => casesOf(boundaryPlaces(origin()), headerPayloads(headerBytes))],
    ['members of bodies', () => casesOf(bodyPlaces(origin()), jsonPayloads(bodyBytes))],
  ];
  for (const [what, make] of inputs)
    it(`${what} delay nobody else`, { timeout }, async () => {
      const cases = make();
      const { pid } = scenario.stack.part('gateway');
      const before = attack.outcome().cases;
      await attack.send(cases);
      const outcome = attack.outcome();
      expect(outcome.cases - before).toBeGreaterThanOrEqual(cases.length);
      expect(scenario.stack.part('gateway').pid).toBe(pid);
      tell(what, cases.length, outcome);
    });

  it('leave nothing behind', async () => {
    const metrics = await readMetrics(scenario);
    expect(metrics.split('\n').length).toBeLessThan(promises.metricLines);
    const log = scenario.stack.part('gateway').stderr();
    expect(log).not.toContain('left unhandled');
    expect(log).not.toContain('left uncaught');
    expect((await scenario.chat()).status).toBe(200);
  });
});

async function readMetrics({ stack }: Scenario): Promise<string> {
  const response = await fetch(stack.gatewayMetricsUrl);
  expect(response.status).toBe(200);
  return response.text();
}

describe('the list of headers', () => {
  it('has each that the sources name', () => {
    const root = join(import.meta.dirname, '../../../..');
    const settings = new Set(
      providerIds().flatMap((id) =>
        (findProvider(id)?.settings ?? []).map((name) => `x-service-${name}`),
      ),
    );
    const replied =
      /^x-service-(?:attempts|cache-status|cost|dropped-params|error-code|gateway-exception|ignored-config|last-used-option-index|limits-degraded|limits-would-refuse|provider-slug|ratelimit-.*|request-id|response-store|retry-attempt-count|routing-stopped|status-code|unpriced-units|upstream-request-id)$/;
    const missing = [...namedHeaders(root)].filter(
      (name) => !ownHeaders.includes(name) && !settings.has(name) && !replied.test(name),
    );
    expect(missing).toEqual([]);
  });
});

function namedHeaders(root: string): Set<string> {
  const names = new Set<string>();
  for (const folder of ['services/gateway/src', 'packages/engine/src', 'packages/providers/src'])
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      const source = readFileSync(join(root, folder, file), 'utf8');
      for (const [name] of source.matchAll(/(?<=')x-service-[a-z0-9-]+(?=')/g)) names.add(name);
    }
  names.delete('x-service-');
  return names;
}
