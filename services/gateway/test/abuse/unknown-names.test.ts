import { createServiceKey } from '@sluice/contracts';
import { isLongForm, json } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatBody, chatReply, type Scenario, startScenario } from '../scenario.ts';
import { Attack, type Case, tell } from './attack.ts';
import { type Bystander, startBystander } from './bystander.ts';

/** `NewerBundles`: questions a second about one workspace. */
const newerPerSecondMax = 4;
/** `HeldKeys`: questions a second about keys that nobody has, and those under way beside them. */
const missesPerSecondMax = 200;
const lookupsMax = 64;
/** Of each kind. */
const rounds = isLongForm ? 8_000 : 1_000;

let scenario: Scenario;
let bystander: Bystander;
let attack: Attack;
beforeAll(async () => {
  scenario = await startScenario({ processes: ['gateway'] });
  scenario.upstream.handle(json(200, chatReply));
  // Held from here on: one that is asked for in the second of a flood of keys is refused with them.
  expect((await scenario.chat()).status).toBe(200);
  bystander = await startBystander(scenario);
  attack = new Attack(scenario, bystander, 32);
});
afterAll(async () => {
  await attack?.close();
  await bystander?.stop();
  await scenario?.stop();
});

/** What the control plane was asked since its start, counted there. */
async function asked(method: string): Promise<number> {
  const { controlPlaneMetrics } = scenario.stack.ports;
  const text = await (await fetch(`http://127.0.0.1:${controlPlaneMetrics}/metrics`)).text();
  const line = new RegExp(
    `^sluice_config_questions_total\\{[^}]*method="${method}"[^}]*\\} (\\d+)$`,
    'm',
  );
  return Number(line.exec(text)?.[1] ?? 0);
}

const body = Buffer.from(JSON.stringify(chatBody));
const kinds: Readonly<Record<string, (number: number) => ReturnType<Case['request']>>> = {
  'a key': () => ({
    path: '/v1/chat/completions',
    headers: [['x-service-api-key', createServiceKey('sl_')]],
    body,
  }),
  'a config': (number) => ({
    path: '/v1/chat/completions',
    headers: [['x-service-config', `pc-nobody-${number}`]],
    body,
  }),
  'a provider': (number) => ({
    path: '/v1/chat/completions',
    headers: [['x-service-provider', `@nobody-${number}`]],
    body,
  }),
  'a prompt': (number) => ({
    path: `/v1/prompts/pp-nobody-${number}@7/render`,
    headers: [],
    body: Buffer.from('{"variables":{}}'),
  }),
};

/** How often the control plane was asked while all of these were, and for how long that was. */
async function flood(kind: string, method: string) {
  const request = kinds[kind] as (typeof kinds)[string];
  const cases = Array.from(
    { length: rounds },
    (_, number): Case => ({ name: `${kind} ${number}`, request: () => request(number) }),
  );
  const before = await asked(method);
  const startedAt = performance.now();
  await attack.send(cases, 500);
  const seconds = (performance.now() - startedAt) / 1_000;
  const questions = (await asked(method)) - before;
  tell(
    `${kind} unknown, ${questions} questions in ${seconds.toFixed(1)} s`,
    rounds,
    attack.outcome(),
  );
  return { questions, seconds };
}

it('a flood of unknown keys costs the control plane what the cap says, and another caller nothing', async () => {
  const { questions, seconds } = await flood('a key', 'resolveKey');
  expect(questions).toBeGreaterThan(0);
  expect(questions).toBeLessThanOrEqual(missesPerSecondMax * (Math.ceil(seconds) + 1) + lookupsMax);
  const { statuses } = attack.outcome();
  // What a busy machine kept waiting was sent again.
  const { 401: unknown = 0, 503: late = 0, ...others } = Object.fromEntries(statuses);
  expect([others, unknown > 0, unknown + late >= rounds]).toEqual([{}, true, true]);
});

it.each(['a config', 'a provider', 'a prompt'])(
  'a flood of unknown names of %s costs the control plane what the cap says, and another caller nothing',
  async (kind) => {
    const { questions, seconds } = await flood(kind, 'getSections');
    expect(questions).toBeGreaterThan(0);
    expect(questions).toBeLessThanOrEqual(newerPerSecondMax * (seconds + 1));
    expect(questions).toBeLessThan(rounds / 10);
  },
  120_000,
);
