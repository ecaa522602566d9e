import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab, type Trial } from './lab.ts';
import { chatBody, chatReply } from './scenario.ts';
import { openAiError, openAiEvents, openAiReply, stream, textOf } from './vendor-replies.ts';

/** What two gateways with one Redis know of each other, and what they do without it. */
let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ gateways: 2, redis: true });
});
afterAll(() => lab.stop());

async function withTrial<T>(run: (trial: Trial) => Promise<T>): Promise<T> {
  const trial = lab.trial();
  try {
    return await run(trial);
  } finally {
    await trial.close();
  }
}

const down = openAiError(503, 'overloaded');
const breaking = { failure_threshold: 1, cooldown_interval: 60_000 };
const cache = { mode: 'simple' };
const bodySaying = (content: string) => ({ ...chatBody, messages: [{ role: 'user', content }] });
const metadataOf = (user: string) => ({
  'x-service-metadata': JSON.stringify({ user_id: user }),
});

describe('two gateways with one Redis', () => {
  it('a circuit opened by one is open at the other within a second', async ({ annotate }) => {
    // Asking is a call that counts, so each circuit is asked about only once, after its own wait.
    const waitsMs = [50, 150, 300, 500, 700, 900];
    const saw = await Promise.all(
      waitsMs.map((waitMs) =>
        withTrial(async (trial) => {
          const first = await trial.upstream('first', down);
          const second = await trial.upstream('second', openAiReply);
          const config = await lab.saveConfig({
            strategy: { mode: 'fallback', cb_config: breaking },
            targets: [first.target(), second.target()],
          });
          const closed = await trial.ask({ config, gateway: 1 });
          expect(closed.calls).toEqual(['first', 'second']);
          for (const _ of [1, 2]) await trial.ask({ config, gateway: 0 });
          expect((await trial.ask({ config, gateway: 0 })).calls).toEqual(['second']);
          await delay(waitMs);
          const { calls, answer } = await trial.ask({ config, gateway: 1 });
          expect(answer.status).toBe(200);
          return calls[0] === 'second';
        }),
      ),
    );
    await annotate(`seen after at most ${waitsMs[saw.indexOf(true)]} ms`);
    expect(saw.at(-1)).toBe(true);
  });

  it('failures at both add up to one open circuit', () =>
    withTrial(async (trial) => {
      const first = await trial.upstream('first', down);
      const second = await trial.upstream('second', openAiReply);
      const config = await lab.saveConfig({
        strategy: { mode: 'fallback', cb_config: { ...breaking, failure_threshold: 3 } },
        targets: [first.target(), second.target()],
      });
      for (const gateway of [0, 1, 0, 1]) {
        expect((await trial.ask({ config, gateway })).calls).toEqual(['first', 'second']);
        await delay(300);
      }
      await delay(600);
      for (const gateway of [0, 1])
        expect((await trial.ask({ config, gateway })).calls).toEqual(['second']);
    }));

  it('what one has cached the other answers, also as a stream', () =>
    withTrial(async (trial) => {
      const upstream = await trial.upstream('first', openAiReply);
      const ask = (gateway: number, over: object = {}) =>
        trial.ask({
          config: upstream.target({ cache }),
          gateway,
          body: { ...bodySaying('shared'), ...over },
        });
      expect((await ask(0)).answer.own('cache-status')).toBe('MISS');
      // Written behind the answer.
      await delay(200);
      const kept = await ask(1);
      expect(kept.answer.own('cache-status')).toBe('HIT');
      expect(kept.answer.json).toEqual(chatReply);
      expect(upstream.requests).toHaveLength(1);

      const events = openAiEvents('Hel', 'lo');
      const streaming = await trial.upstream('streaming', stream(events));
      const askStream = (gateway: number) =>
        trial.ask({
          config: streaming.target({ cache }),
          gateway,
          body: {
            ...bodySaying('streamed'),
            stream: true,
            stream_options: { include_usage: true },
          },
        });
      expect((await askStream(0)).answer.text).toBe(events.join(''));
      await delay(200);
      const replayed = await askStream(1);
      expect(replayed.answer.own('cache-status')).toBe('HIT');
      expect(textOf(replayed.answer.text)).toBe('Hello');
      expect(replayed.answer.text.endsWith('data: [DONE]\n\n')).toBe(true);
      expect(streaming.requests).toHaveLength(1);
    }));

  it('both send a user to the same target', () =>
    withTrial(async (trial) => {
      const upstreams = await Promise.all(
        ['a', 'b', 'c', 'd'].map((name) => trial.upstream(name, openAiReply)),
      );
      const config = {
        strategy: {
          mode: 'loadbalance',
          sticky: { enabled: true, hash_fields: ['metadata.user_id'], ttl: 300 },
        },
        targets: upstreams.map((upstream) => upstream.target()),
      };
      const targetOf = async (user: string, gateway: number) => {
        const { answer } = await trial.ask({ config, gateway, headers: metadataOf(user) });
        expect(answer.status).toBe(200);
        return answer.own('last-used-option-index');
      };
      const chosen = new Set<string | null>();
      for (let user = 0; user < 20; user++) {
        const first = await targetOf(`user-${user}`, user % 2);
        chosen.add(first);
        await delay(30);
        expect(await targetOf(`user-${user}`, (user + 1) % 2), `user-${user}`).toBe(first);
      }
      // All on one of four by chance: less than once in a hundred billion runs.
      expect(chosen.size).toBeGreaterThan(1);
    }));

  it('requests go on when Redis dies, and share again when it is back', () =>
    withTrial(async (trial) => {
      const { redis } = lab.scenario.stack;
      const upstream = await trial.upstream('first', openAiReply);
      const config = await lab.saveConfig({
        strategy: {
          mode: 'loadbalance',
          sticky: { enabled: true, hash_fields: ['metadata.user_id'] },
          cb_config: breaking,
        },
        targets: [upstream.target({ cache }), upstream.target({ cache })],
      });
      let sent = 0;
      let running = true;
      let slowestMs = 0;
      const callers = [0, 1, 0, 1].map(async (gateway) => {
        while (running) {
          sent += 1;
          const { answer } = await trial.ask({
            config,
            gateway,
            headers: metadataOf(`user-${sent % 7}`),
            body: bodySaying(`words ${sent}`),
          });
          expect(answer.status).toBe(200);
          slowestMs = Math.max(slowestMs, answer.elapsedMs);
        }
      });
      const everything = Promise.all(callers);
      await Promise.race([delay(700), everything]);
      await redis?.kill();
      const sentBefore = sent;
      await Promise.race([delay(2500), everything]);
      await Promise.race([eventually(() => sent - sentBefore > 50), everything]);
      await redis?.restart();
      await Promise.race([delay(500), everything]);
      running = false;
      await everything;
      // One wait for a Redis that does not answer, at most.
      expect(slowestMs).toBeLessThan(2000);

      let round = 0;
      const isShared = async () => {
        round += 1;
        const body = bodySaying(`again ${round}`);
        await trial.ask({ config: upstream.target({ cache }), gateway: 0, body });
        await delay(100);
        const { answer } = await trial.ask({
          config: upstream.target({ cache }),
          gateway: 1,
          body,
        });
        return answer.own('cache-status');
      };
      await expect.poll(isShared).toBe('HIT');
    }));
});
