import { eventually } from '@sluice/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CallBench, done } from './call-cases.ts';
import { sdpOffer } from './fake-calls.ts';
import { vendorKey } from './fake-vendor.ts';

/** Cents. */
const perSecond = 50;
const type = 'translation.stretch';
/** Sound of so many seconds: 24 kHz, two bytes each, in base64. */
const sound = (seconds: number) => ({
  type: 'session.input_audio_buffer.append',
  audio: 'A'.repeat(seconds * 64_000),
});

/** What is told by no event, and priced by its time; and calls at Azure. A stretch is two seconds here. */
export function translationCases(bench: () => CallBench): void {
  let saved: string;
  const vendor = () => bench().vendor;

  beforeAll(async () => {
    const { lab } = bench();
    saved = await lab.saveProvider({
      aiProviderId: 'openai',
      key: vendorKey,
      customHost: vendor().base,
    });
    const pricing_config = {
      type: 'static',
      pay_as_you_go: { additional_units: { audio_second: { price: perSecond } } },
    };
    await lab.manage('PUT', `/integrations/${saved.slice(1)}/models`, {
      models: [{ slug: 'interpreter', enabled: true, is_custom: true, pricing_config }],
    });
  });

  const place = (path: string, provider: string, key: string, name: string) =>
    fetch(`${bench().lab.scenario.stack.gatewayUrls[0]}/v1/realtime${path}`, {
      method: 'POST',
      body: sdpOffer,
      headers: {
        'content-type': 'application/sdp',
        'x-service-api-key': key,
        'x-service-provider': provider,
        'x-service-metadata': JSON.stringify({ metadata: name }),
      },
    });

  describe('a translation', () => {
    it('over a WebSocket is paid for by what is heard, and ended by a budget', async () => {
      const { newKey, session, recordsOf } = bench();
      // Three stretches of a dollar, and not a fourth.
      const { key } = await newKey({ usage_limits: { type: 'cost', credit_limit: 3 } });
      const live = await session('interpreter', {
        path: '/v1/realtime/translations',
        key,
        host: null,
        headers: { 'x-service-provider': saved },
        metadata: 'translated',
      });
      live.say(sound(1));
      live.say(sound(1));
      const [first] = await recordsOf('translated', type, 1);
      expect(first).toMatchObject({ endpoint: 'realtimeTranslation', model: 'interpreter' });
      expect(first?.audioSeconds).toBeCloseTo(2, 1);
      expect(Number(first?.costNanoUsd)).toBeCloseTo(1e9, -8);
      live.say(sound(2));
      await recordsOf('translated', type, 2);
      live.say(sound(2));
      await live.hears('error');
      expect((await live.closed).code).toBe(1008);
      await recordsOf('translated', type, 3);
    });

    it('that is cut short is paid for as far as it came', async () => {
      const { session, recordsOf } = bench();
      const live = await session('interpreter', {
        path: '/v1/realtime/translations',
        host: null,
        headers: { 'x-service-provider': saved },
        metadata: 'cut-translation',
      });
      live.say(sound(1));
      await eventually(() => expect(vendor().sockets.size).toBeGreaterThan(0));
      live.socket.close();
      const [rest] = await recordsOf('cut-translation', type, 1);
      expect(rest?.audioSeconds).toBeCloseTo(1, 1);
    });

    it('over WebRTC is paid for by its time, and hung up by a budget', async () => {
      const { newKey, recordsOf } = bench();
      const { key } = await newKey({ usage_limits: { type: 'cost', credit_limit: 2 } });
      const path = '/translations/calls?model=interpreter';
      const placed = await place(path, saved, key, 'interpreted');
      expect(placed.status, await placed.text()).toBe(201);
      const call = vendor().calls.last;
      expect(call.session).toEqual({ model: 'interpreter' });
      await eventually(() => expect(call.hungUpAt).toBeDefined());
      await recordsOf('interpreted', 'call.hangup', 1);
      // Two that were held, and what it took to hang up.
      const stretches = await recordsOf('interpreted', type, 3);
      const told = stretches.map(({ audioSeconds }) => audioSeconds).sort((a, b) => b - a);
      expect(told.slice(0, 2)).toEqual([2, 2]);
      expect(told[2]).toBeLessThanOrEqual(2);
      expect(Math.max(...stretches.map(({ costNanoUsd }) => Number(costNanoUsd)))).toBe(1e9);
      const refused = await place(path, saved, key, 'interpreted');
      expect(refused.status, await refused.text()).toBe(412);
    });
  });

  it('a call at Azure is placed, heard and counted with its credential', async () => {
    const { lab, recordsOf } = bench();
    const { workspace_key: key } = lab.scenario.stack.credentials;
    const azure = await lab.saveProvider({
      aiProviderId: 'azure-openai',
      key: vendorKey,
      customHost: vendor().base,
      configurations: {
        azure_auth_mode: 'default',
        azure_resource_name: 'res',
        azure_deployment_config: [
          {
            azure_deployment_name: 'voice',
            azure_api_version: 'v1',
            azure_model_slug: 'gpt-realtime',
          },
        ],
      },
    });
    const placed = await place('/calls?model=gpt-realtime', azure, key, 'azure-call');
    expect(placed.status, await placed.text()).toBe(201);
    const call = vendor().calls.last;
    await eventually(() => expect(call.sidebands.size).toBe(1));
    expect(vendor().calls.asked.at(-1)?.headers['api-key']).toBe(vendorKey);
    expect(vendor().handshakes.at(-1)?.headers['api-key']).toBe(vendorKey);
    call.say(done('r1'));
    const [record] = await recordsOf('azure-call', 'response.done', 1);
    expect(record).toMatchObject({ provider: 'azure-openai' });
    call.end();
  });
}
