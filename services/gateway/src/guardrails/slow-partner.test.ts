import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGuardedFetch, makeHostRules } from '@sluice/outbound';
import { createLogger } from '@sluice/telemetry';
import { eventually, isLongForm } from '@sluice/testkit';
import { cpuMs } from '@sluice/testkit/own-time';
import { afterAll, expect, it } from 'vitest';
import { asking, exampleCheck, exampleHook } from './example-hooks.ts';
import { Guardrails } from './guardrails.ts';

/**
 * A partner that hangs holds those who ask it, and nobody else. `SLUICE_LONG_FORM=true` has it
 * take five seconds and prints what others wait by the clock; the suite counts the CPU of
 * this thread, which is what others would wait for, on however busy a machine.
 */
const isWhole = isLongForm;
const waitingMax = 200;

const held: ServerResponse[] = [];
const partner = createServer((_request, response) => {
  held.push(response);
  if (isWhole) setTimeout(() => answer(response), 5_000);
});
partner.listen(0, '127.0.0.1');
await once(partner, 'listening');
const url = `http://127.0.0.1:${(partner.address() as AddressInfo).port}/check`;
const fetch = createGuardedFetch({
  rules: makeHostRules({ trusted: ['127.0.0.1'], production: true }),
  connectionsMax: 256,
});
afterAll(async () => {
  await fetch.close();
  partner.close();
});

function answer(response: ServerResponse): void {
  response.setHeader('content-type', 'application/json');
  response.end('{"verdict":true}');
}

const guardrails = new Guardrails({
  logger: createLogger({ service: 'test', level: 'silent' }),
  fetch,
});
const own = (id: string, parameters: object) => ({
  own: {
    beforeRequest: [exampleHook({ checks: [exampleCheck(id, { ...parameters })] })],
    afterRequest: [],
  },
  enforced: undefined,
});
const waiting = own('default.webhook', { webhookURL: url, timeout: 60_000 });
const plain = own('default.regexMatch', { rule: 'word' });

/** What 1,000 requests with a check of our own take, one after the other: the 99th of a hundred, ms. */
async function p99(now: () => number): Promise<number> {
  const took: number[] = [];
  for (let asked = 0; asked < 1_000; asked++) {
    const startedAt = now();
    await guardrails.before(plain, asking('a word'));
    // Whatever else has its turn is waited for, as a request's next step would be.
    await new Promise((resolve) => setImmediate(resolve));
    took.push(now() - startedAt);
  }
  return took.toSorted((a, b) => a - b)[989] ?? 0;
}

it('200 requests that wait for a partner cost others less than 5 ms', async () => {
  const now = isWhole ? () => performance.now() : cpuMs;
  await p99(now);
  const alone = await p99(now);
  const runs = Array.from({ length: waitingMax }, () =>
    guardrails.before(waiting, asking('a word')),
  );
  await eventually(() => expect(held.length).toBe(waitingMax));
  const beside = await p99(now);
  if (isWhole)
    process.stdout.write(`p99 alone ${alone.toFixed(2)} ms, beside ${beside.toFixed(2)} ms\n`);
  expect(beside - alone).toBeLessThan(5);
  if (!isWhole) for (const response of held) answer(response);
  const verdicts = (await Promise.all(runs)).map((run) => run?.failed);
  expect(verdicts).toEqual(Array.from({ length: waitingMax }, () => false));
});
