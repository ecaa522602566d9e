import { slowHeaders } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AskOptions, type Lab, type NamedUpstream, startLab, type Trial } from '../lab.ts';
import { chatBody } from '../scenario.ts';
import { openAiError, openAiReply } from '../vendor-replies.ts';

/** What one caller does with a saved config must not decide where the others are sent. */
let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.stop());

async function inTrial<T>(work: (trial: Trial) => Promise<T>): Promise<T> {
  const trial = lab.trial();
  try {
    return await work(trial);
  } finally {
    await trial.close();
  }
}

const breaking = { failure_threshold: 2, cooldown_interval: 30_000 };
const down = openAiError(503, 'overloaded');
const slow = slowHeaders(150, openAiReply);

interface Attack {
  what: string;
  /** The first target as the admin saved it. */
  target?: object;
  circuit?: object;
  /** What the first upstream answers while the attack lasts. */
  reply?: Parameters<Trial['upstream']>[1];
  ask: (trial: Trial) => Promise<Partial<AskOptions>> | Partial<AskOptions>;
}

const attacks: Attack[] = [
  {
    what: 'a timeout of its own',
    ask: () => ({ headers: { 'x-service-request-timeout': '10' } }),
  },
  {
    what: 'a host of its own that fails',
    ask: async (trial) => {
      let calls = 0;
      // Fails as the first target, and answers as the second.
      const failing = await trial.upstreamThat('of the caller', () =>
        calls++ % 2 === 0 ? down : openAiReply,
      );
      return { headers: { 'x-service-custom-host': `${failing.url}/v1` } };
    },
  },
  {
    what: 'a key of its own that is refused',
    target: { api_key: undefined },
    circuit: { failure_status_codes: [401] },
    reply: openAiError(401, 'no such key'),
    ask: () => ({ headers: { authorization: 'Bearer sk-wrong' } }),
  },
  {
    what: 'headers of its own, forwarded',
    reply: openAiError(501, 'no such beta'),
    ask: () => ({
      headers: { 'x-service-forward-headers': 'openai-beta', 'openai-beta': 'nonsense=v9' },
    }),
  },
  {
    what: 'settings of its own',
    circuit: { failure_status_codes: [401, 403] },
    reply: openAiError(403, 'not of this organisation'),
    ask: () => ({ headers: { 'x-service-openai-organization': 'org-of-nobody' } }),
  },
  {
    what: 'a body that the provider refuses',
    circuit: { failure_status_codes: [400, 422, 503] },
    reply: openAiError(422, 'messages are wrong'),
    ask: () => ({}),
  },
  {
    what: 'a model that there is not',
    circuit: { failure_status_codes: [404, 503] },
    reply: openAiError(404, 'no such model'),
    ask: () => ({ body: { model: 'no-such-model', messages: [{ role: 'user', content: 'Hi' }] } }),
  },
  {
    what: 'paths of its own, passed through',
    reply: openAiError(501, 'not here'),
    ask: () => ({ path: '/v1/proxy/no/such/path', body: {} }),
  },
];

/** A saved config of two targets, the first of which has a circuit. */
async function fallback(first: NamedUpstream, second: NamedUpstream, attack: Attack) {
  return lab.saveConfig({
    strategy: { mode: 'fallback', cb_config: { ...breaking, ...attack.circuit } },
    targets: [first.target(attack.target), second.target()],
  });
}

describe('the circuit of a saved config', () => {
  it.each(attacks)('is not opened by a caller with $what', (attack) =>
    inTrial(async (trial) => {
      let underAttack = true;
      const first = await trial.upstreamThat('first', () =>
        underAttack ? (attack.reply ?? slow) : openAiReply,
      );
      const second = await trial.upstream('second', openAiReply);
      const config = await fallback(first, second, attack);
      const over = await attack.ask(trial);
      for (let call = 0; call < 4; call++) await trial.ask({ config, ...over });
      underAttack = false;
      // Calls that their caller gave up may arrive at either only now: this one is told by its name.
      await trial.ask({ config, body: { ...chatBody, user: 'the last' } });
      const asked = [first, second].flatMap(({ name, requests }) =>
        requests.flatMap(({ body }) => (body.includes('"the last"') ? [name] : [])),
      );
      expect(asked).toEqual(['first']);
    }),
  );

  it('is opened by what the provider does under the terms of the admin', () =>
    inTrial(async (trial) => {
      const first = await trial.upstream('first', down);
      const second = await trial.upstream('second', openAiReply);
      const config = await fallback(first, second, attacks[0] as Attack);
      for (let call = 0; call < 3; call++) await trial.ask({ config });
      expect((await trial.ask({ config })).calls).toEqual(['second']);
    }));

  it('hears of a failure that came within a shorter timeout of the caller', () =>
    inTrial(async (trial) => {
      const first = await trial.upstream('first', down);
      const second = await trial.upstream('second', openAiReply);
      const config = await fallback(first, second, attacks[0] as Attack);
      const headers = { 'x-service-request-timeout': '20000' };
      for (let call = 0; call < 3; call++) await trial.ask({ config, headers });
      expect((await trial.ask({ config })).calls).toEqual(['second']);
    }));
});

describe('the averages of a saved config', () => {
  it('are not pulled by what a caller’s own host or refused body makes of a target', () =>
    inTrial(async (trial) => {
      let refuses = false;
      const quick = await trial.upstreamThat('quick', () =>
        refuses ? openAiError(400, 'wrong') : openAiReply,
      );
      const slower = await trial.upstream('slow', slow);
      const failing = await trial.upstream('of the caller', down);
      const config = await lab.saveConfig({
        strategy: { mode: 'least-latency' },
        targets: [quick.target(), slower.target()],
      });
      for (let call = 0; call < 4; call++) await trial.ask({ config });
      expect((await trial.ask({ config })).calls).toEqual(['quick']);
      const headers = { 'x-service-custom-host': `${failing.url}/v1` };
      for (let call = 0; call < 3; call++) await trial.ask({ config, headers });
      refuses = true;
      for (let call = 0; call < 3; call++) await trial.ask({ config });
      refuses = false;
      expect((await trial.ask({ config })).calls).toEqual(['quick']);
    }));
});
