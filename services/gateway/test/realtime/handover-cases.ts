import { eventually, freshName } from '@sluice/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CallBench, done } from './call-cases.ts';
import { sdpOffer } from './fake-calls.ts';
import { vendorKey } from './fake-vendor.ts';

const begun = (id: string) => ({ type: 'response.created', response: { id } });
const takenOverMs = 30_000;

/** What becomes of calls of a gateway that ends: the second one, which has a process of its own. */
export function handoverCases(bench: () => CallBench): void {
  let saved: string;
  const vendor = () => bench().vendor;

  beforeAll(async () => {
    saved = await bench().lab.saveProvider({
      aiProviderId: 'openai',
      key: vendorKey,
      customHost: vendor().base,
    });
  });

  const endingGateway = () => bench().lab.scenario.stack.part('gateway-2');

  /** A call that the second gateway places. */
  async function place(name: string, over: { key?: string; config?: object } = {}) {
    const { scenario } = bench().lab;
    const by =
      over.config === undefined
        ? { 'x-service-provider': saved }
        : { 'x-service-config': JSON.stringify(over.config) };
    const placed = await fetch(
      `${scenario.stack.gatewayUrls[1]}/v1/realtime/calls?model=gpt-realtime`,
      {
        method: 'POST',
        body: sdpOffer,
        headers: {
          ...by,
          'content-type': 'application/sdp',
          'x-service-api-key': over.key ?? scenario.stack.credentials.workspace_key,
          'x-service-metadata': JSON.stringify({ metadata: name }),
        },
      },
    );
    expect(placed.status, await placed.text()).toBe(201);
    const call = vendor().calls.last;
    await eventually(() => expect(call.sidebands.size).toBe(1));
    return call;
  }

  describe('a gateway that ends', () => {
    it('leaves its calls to another, which counts, limits and hangs them up', async () => {
      const { newKey, recordsOf, session } = bench();
      const [killed, handed] = [freshName('killed'), freshName('handed')];
      const { key } = await newKey({ usage_limits: { type: 'tokens', credit_limit: 3000 } });
      // As it is chosen by a config of several, the target that has the call is asked, and no other.
      const elsewhere = { provider: 'openai', api_key: 'sk-of-another', weight: 0 };
      const config = {
        strategy: { mode: 'loadbalance' },
        targets: [elsewhere, { provider: saved, weight: 1 }],
      };
      const live = await session('gpt-realtime', { metadata: killed, gateway: 1 });
      live.say({ type: 'response.create' });
      await live.hears('response.done');
      const call = await place(handed, { key, config });
      call.say(begun('r1'));
      call.say(done('r1'));
      const [first] = await recordsOf(handed, 'response.done', 1);
      call.say(begun('r2'));
      await endingGateway().kill();
      await eventually(() => expect(call.sidebands.size).toBe(0));
      await eventually(() => expect(call.sidebands.size).toBe(1), { timeoutMs: takenOverMs });
      // Begun when another heard it: whole in its end.
      call.say(done('r2'));
      const [, second] = await recordsOf(handed, 'response.done', 2);
      expect(second).toMatchObject({
        traceId: first?.traceId,
        apiKeyId: first?.apiKeyId,
        inputAudioTokens: 600n,
        usageEstimated: false,
      });
      expect(call.hungUpAt).toBeUndefined();
      // Of 3,000 tokens 2,600 are gone: the third response is the last.
      call.say(done('r3'));
      await recordsOf(handed, 'response.done', 3);
      // A Redis that took more than half a second to take them tells of it behind the next one.
      let responses = 3;
      await eventually(() => expect(call.hungUpAt).toBeDefined(), { timeoutMs: 10_000 }).catch(() =>
        call.say(done(`r${++responses}`)),
      );
      await eventually(() => expect(call.hungUpAt).toBeDefined());
      const [why] = await recordsOf(handed, 'call.hangup', 1);
      expect(why).toMatchObject({ errorCode: 'limit.budget_exhausted' });
      expect((await live.closed).code).toBe(1006);

      await endingGateway().start();
      // What its session over a WebSocket used was on its disk.
      await recordsOf(killed, 'response.done', 1);
      await recordsOf(handed, 'response.done', responses);
    });

    it('gives them away when it is told to stop, and hangs none up', async () => {
      const { recordsOf } = bench();
      const given = freshName('given');
      const call = await place(given);
      call.say(done('r1'));
      await recordsOf(given, 'response.done', 1);
      const before = [...call.sidebands];
      await endingGateway().stop();
      expect(call.hungUpAt).toBeUndefined();
      await eventually(() => {
        expect(call.sidebands.size).toBe(1);
        expect(before.some((socket) => call.sidebands.has(socket))).toBe(false);
      });
      call.say(done('r2'));
      await recordsOf(given, 'response.done', 2);
      call.end();
      await eventually(() => expect(call.sidebands.size).toBe(0));
      await endingGateway().start();
    });
  });
}
