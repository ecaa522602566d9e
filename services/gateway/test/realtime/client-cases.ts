import {
  OpenAIRealtimeWebRTC,
  OpenAIRealtimeWebSocket,
  RealtimeAgent,
  RealtimeSession,
} from '@openai/agents/realtime';
import type { usage } from '@sluice/proto-stubs';
import { eventually } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Lab } from '../lab.ts';
import { sdpAnswer, sdpOffer } from './fake-calls.ts';
import { type FakeVendor, responseUsage, vendorKey } from './fake-vendor.ts';
import { inChromium } from './in-chromium.ts';

export interface ClientBench {
  readonly lab: Lab;
  readonly vendor: FakeVendor;
  recordsOf(name: string, type: string, count: number): Promise<usage.UsageRecord[]>;
}

/** A browser's side of WebRTC without sound: its channel acknowledges a session, as the vendor's does. */
class SilentPeer extends EventTarget {
  static last: SilentPeer | undefined;
  remote: unknown;
  readonly channel = Object.assign(new EventTarget(), {
    readyState: 'connecting',
    send: (text: string) => {
      if (JSON.parse(text).type !== 'session.update') return;
      const data = JSON.stringify({ type: 'session.updated', session: {} });
      this.channel.dispatchEvent(Object.assign(new Event('message'), { data }));
    },
    close: () => {},
  });
  readonly connectionState = 'connected';

  constructor() {
    super();
    SilentPeer.last = this;
  }

  createDataChannel = () => this.channel;
  addTrack = () => {};
  getSenders = () => [];
  close = () => {};
  createOffer = async () => ({ type: 'offer', sdp: sdpOffer });
  setLocalDescription = async () => {};
  setRemoteDescription = async (answer: unknown) => {
    this.remote = answer;
    this.channel.readyState = 'open';
    this.channel.dispatchEvent(new Event('open'));
  };
}

/** The vendor's own clients, unmodified, with secrets of the gateway. */
export function clientCases(bench: () => ClientBench): void {
  let client: OpenAI;
  let origin: string;

  beforeAll(async () => {
    const { lab, vendor } = bench();
    const saved = await lab.saveProvider({
      aiProviderId: 'openai',
      key: vendorKey,
      customHost: vendor.base,
    });
    origin = lab.scenario.stack.gatewayUrls[0] as string;
    client = new OpenAI({
      apiKey: lab.scenario.stack.credentials.workspace_key,
      baseURL: `${origin}/v1`,
      defaultHeaders: {
        'x-service-provider': saved,
        'x-service-metadata': '{"metadata":"clients"}',
      },
    });
  });
  afterEach(() => void vi.unstubAllGlobals());

  const secret = async () => {
    const { value } = await client.realtime.clientSecrets.create({
      expires_after: { anchor: 'created_at', seconds: 60 },
      session: { type: 'realtime', model: 'gpt-realtime' },
    });
    return value;
  };
  const agent = () => new RealtimeAgent({ name: 'Agent', instructions: 'Be brief.' });

  describe('clients', () => {
    it('openai 7.57 makes secrets, places calls and hangs up', async () => {
      const placed = await client.realtime.calls.create({
        sdp: sdpOffer,
        session: { type: 'realtime', model: 'gpt-realtime' },
      });
      expect(await placed.text()).toBe(sdpAnswer);
      const call = bench().vendor.calls.last;
      const id = placed.headers.get('location')?.split('/').pop() ?? '';
      expect([id, call.sdp]).toEqual([call.id, sdpOffer]);
      await client.realtime.calls.hangup(id);
      expect(call.hungUpAt).toBeDefined();
    });

    it('@openai/agents-realtime talks over a WebSocket', async () => {
      const url = `${origin.replace('http', 'ws')}/v1/realtime?model=gpt-realtime`;
      const transport = new OpenAIRealtimeWebSocket({ url });
      const session = new RealtimeSession(agent(), { transport, model: 'gpt-realtime' });
      const done = new Promise((resolve, reject) => {
        session.on('error', reject);
        session.on('transport_event', (event) => {
          if (event.type === 'response.done') resolve(event.response);
        });
      });
      await session.connect({ apiKey: await secret() });
      session.sendMessage('Hello');
      expect(await done).toMatchObject({ usage: responseUsage });
      session.close();
      await bench().recordsOf('clients', 'response.done', 1);
    });

    const chromium = process.env.SLUICE_CHROMIUM ?? '';
    // Its command is `npm run realtime:browser`: not every machine has a browser.
    it.runIf(chromium !== '')(
      'a page in Chromium talks and calls with a secret alone',
      async () => {
        const { usage, call } = await inChromium(chromium, await secret(), origin);
        expect(usage).toEqual(responseUsage);
        const placed = bench().vendor.calls.last;
        expect(call).toMatchObject({
          status: 201,
          location: `/v1/realtime/calls/${placed.id}`,
          sdp: sdpAnswer,
        });
        expect(placed.sdp).toBe(call.offer);
        placed.end();
      },
      60_000,
    );

    it('@openai/agents-realtime signals over WebRTC', async () => {
      vi.stubGlobal('RTCPeerConnection', SilentPeer);
      const transport = new OpenAIRealtimeWebRTC({
        baseUrl: `${origin}/v1/realtime/calls`,
        mediaStream: { getAudioTracks: () => [{ enabled: true, stop: () => {} }] } as never,
        audioElement: {} as never,
      });
      const session = new RealtimeSession(agent(), { transport, model: 'gpt-realtime' });
      await session.connect({ apiKey: await secret() });
      const call = bench().vendor.calls.last;
      expect(transport.callId).toBe(call.id);
      expect(SilentPeer.last?.remote).toEqual({ type: 'answer', sdp: sdpAnswer });
      expect(call.session).toMatchObject({ type: 'realtime', model: 'gpt-realtime' });
      await eventually(() => expect(call.sidebands.size).toBe(1));
      call.say({ type: 'response.done', response: { id: 'r', usage: responseUsage } });
      await bench().recordsOf('clients', 'response.done', 1);
      session.close();
      call.end();
    });
  });
}
