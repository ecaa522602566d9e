import { eventually } from '@sluice/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorOf } from '../scenario.ts';
import { type CallBench, done } from './call-cases.ts';
import { sdpOffer } from './fake-calls.ts';
import { vendorKey } from './fake-vendor.ts';

const said = (id: string, text: string) => ({
  type: 'conversation.item.added',
  item: { id, type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});
const told = (item_id: string, transcript: string) => ({
  type: 'response.output_audio_transcript.done',
  item_id,
  transcript,
});
const forbids = { id: 'default.regexMatch', parameters: { rule: 'forbidden', not: true } };

/** Guardrails of what is said in calls, whose sound and texts go past us. */
export function guardedCallCases(bench: () => CallBench): void {
  let saved: string;
  const vendor = () => bench().vendor;

  beforeAll(async () => {
    saved = await bench().lab.saveProvider({
      aiProviderId: 'openai',
      key: vendorKey,
      customHost: vendor().base,
    });
  });

  const place = (headers: Record<string, string>) =>
    fetch(`${bench().lab.scenario.stack.gatewayUrls[0]}/v1/realtime/calls`, {
      method: 'POST',
      body: sdpOffer,
      headers: { 'content-type': 'application/sdp', ...headers },
    });

  async function heard() {
    const call = vendor().calls.last;
    await eventually(() => expect(call.sidebands.size).toBe(1));
    return call;
  }

  const hooksOf = async (name: string) => {
    const [record] = await bench().recordsOf(name, 'response.done', 1);
    return JSON.parse(record?.decisionJson ?? '').hooks;
  };

  describe('guardrails in a call over WebRTC', () => {
    it.each([
      ['observe', false],
      ['cancel', true],
    ])('%s what is said in it', async (name, deny) => {
      const hook = (id: string) => [{ type: 'guardrail', id, deny, checks: [forbids] }];
      const config = {
        provider: saved,
        before_request_hooks: hook('in'),
        after_request_hooks: hook('out'),
      };
      const { workspace_key: key } = bench().lab.scenario.stack.credentials;
      const minted = await bench().lab.scenario.call('/v1/realtime/client_secrets', {
        host: null,
        body: { session: { type: 'realtime', model: 'gpt-realtime' } },
        headers: {
          'x-service-api-key': key,
          'x-service-config': JSON.stringify(config),
          'x-service-metadata': JSON.stringify({ metadata: `call-${name}` }),
        },
      });
      const { value } = (await minted.json()) as { value: string };
      const placed = await place({ authorization: `Bearer ${value}` });
      expect(placed.status, await placed.text()).toBe(201);
      const call = await heard();
      call.say(said('i1', 'it is fine'));
      call.say(said('i2', 'it is forbidden'));
      call.say(told('i3', 'yes, forbidden'));
      call.say(done('r1'));
      expect(await hooksOf(`call-${name}`)).toMatchObject([
        { id: 'in', event: 'before', verdict: true },
        { id: 'in', event: 'before', verdict: false, deny },
        { id: 'out', event: 'after', verdict: false, deny },
      ]);
      const withdrawn = (item_id: string) => [
        { type: 'response.cancel' },
        { type: 'conversation.item.delete', item_id },
      ];
      const expected = deny ? [...withdrawn('i2'), ...withdrawn('i3')] : [];
      await eventually(() => expect(call.told).toEqual(expected));
      await bench().recordsOf(`call-${name}`, 'guardrail.denied', deny ? 2 : 0);
      call.end();
    });

    it('that are enforced judge minted sessions, their calls and their frames', async () => {
      const { scenario } = bench().lab;
      const { workspace_id, workspace_slug } = scenario.stack.credentials;
      const { slug } = await scenario.admin<{ slug: string }>('POST', '/guardrails', {
        name: 'Words of calls',
        workspace_id,
        checks: [forbids],
        actions: { deny: true },
      });
      const enforce = (slugs: string[]) =>
        scenario.admin('PUT', `/admin/workspaces/${workspace_slug}`, {
          defaults: { input_guardrails: slugs, output_guardrails: slugs },
        });
      const mint = (session: object) =>
        scenario.call('/v1/realtime/client_secrets', {
          host: null,
          body: { session },
          headers: { 'x-service-provider': saved },
        });
      const session = { type: 'realtime', model: 'echo' };
      await enforce([slug]);
      try {
        const refused = await mint({ ...session, instructions: 'what is forbidden' });
        expect(await errorOf(refused)).toMatchObject({ status: 446 });
        const { value } = (await (await mint(session)).json()) as { value: string };
        const live = await bench().session(undefined, {
          key: null,
          host: null,
          protocols: ['realtime', `openai-insecure-api-key.${value}`],
        });
        live.say({ type: 'session.update', session: { instructions: 'forbidden' } });
        await live.hears('error');
        live.socket.close();
        const placed = await place({ authorization: `Bearer ${value}` });
        expect(placed.status, await placed.text()).toBe(201);
        const call = await heard();
        call.say(said('i1', 'it is forbidden'));
        await eventually(() =>
          expect(call.told).toContainEqual({ type: 'conversation.item.delete', item_id: 'i1' }),
        );
        call.end();
      } finally {
        await enforce([]);
      }
    });
  });
}
