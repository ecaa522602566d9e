import { setTimeout as delay } from 'node:timers/promises';
import { eventually, json, slowHeaders } from '@sluice/testkit';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { chatReply, type Scenario } from './scenario.ts';

const rounds = 8;
const responsesARound = 10;

interface Trace {
  requests: { attempts: { outcome: string }[] }[];
}

/** Part of `npm run batches:prove`: the gateway is killed while it makes kept responses, at whatever moment that meets. */
export function provesKilledResponses(scenario: () => Scenario): void {
  it('kept responses: goes on after kill -9 of the gateway, a record for each call of the provider', {
    timeout: 300_000,
  }, async () => {
    const s = scenario();
    const config = {
      responses_store: 'gateway',
      provider: 'z-ai',
      api_key: 'sk-upstream',
      custom_host: `${s.upstream.url}/v1`,
    };
    const client = new OpenAI({
      apiKey: s.stack.credentials.workspace_key,
      baseURL: `${s.stack.gatewayUrls[0]}/v1`,
      maxRetries: 5,
      defaultHeaders: { 'x-service-config': JSON.stringify(config) },
    });
    const message = { role: 'assistant', content: 'Made.' };
    const answer = { ...chatReply, choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const calls = new Map<string, number>();
    let called = 0;
    s.upstream.handle((request) => {
      const { messages } = request.json() as { messages: { content: string }[] };
      const text = messages[0]?.content ?? '';
      calls.set(text, (calls.get(text) ?? 0) + 1);
      called += 1;
      return slowHeaders(Math.random() * 150, json(200, answer));
    });
    const ids = new Map<string, string>();
    for (let round = 0; round < rounds; round += 1) {
      const before = called;
      for (let at = 0; at < responsesARound; at += 1) {
        const input = `killed ${round} ${at}`;
        const { id } = await client.responses.create({ model: 'glm-4.6', input, background: true });
        ids.set(id, input);
      }
      await eventually(() => called > before, { intervalMs: 5 });
      await delay(Math.random() * 200);
      await s.stack.part('gateway').kill();
      await s.stack.part('gateway').start();
    }
    const outcomes = { made: 0, success: 0, lost: 0 };
    for (const [id, input] of ids) {
      const found = await eventually(
        async () => {
          expect((await client.responses.retrieve(id)).status).toBe('completed');
          const made = calls.get(input) ?? 0;
          const { requests } = await s.admin<Trace>('GET', `/traces/${id}`);
          const attempts = requests.flatMap((each) => each.attempts);
          const success = attempts.filter(({ outcome }) => outcome === 'success').length;
          const lost = attempts.filter(({ outcome }) => outcome === 'lost').length;
          // What was noted, and its gateway killed before it was sent, is lost too: nobody can tell the two apart.
          expect(success, input).toBeLessThanOrEqual(made);
          expect(success + lost, input).toBeGreaterThanOrEqual(made);
          expect(success + lost, input).toBe(attempts.length);
          return { made, success, lost };
        },
        { intervalMs: 200 },
      );
      for (const name of ['made', 'success', 'lost'] as const) outcomes[name] += found[name];
    }
    process.stdout.write(`${ids.size} kept responses: ${JSON.stringify(outcomes)}\n`);
  });
}
