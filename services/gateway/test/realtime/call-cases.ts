import { setTimeout as delay } from 'node:timers/promises';
import type { usage } from '@sluice/proto-stubs';
import { eventually } from '@sluice/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import type { Lab } from '../lab.ts';
import { errorOf } from '../scenario.ts';
import { sdpAnswer, sdpOffer } from './fake-calls.ts';
import { type FakeVendor, responseUsage, vendorKey } from './fake-vendor.ts';

/** Of the installation that has the tests of sessions. */
export interface CallBench {
  readonly lab: Lab;
  readonly vendor: FakeVendor;
  newKey(body: object): Promise<{ key: string; id: string }>;
  recordsOf(name: string, type: string, count: number): Promise<usage.UsageRecord[]>;
  session(
    model: string | undefined,
    over: object,
  ): Promise<{
    hears(type: string): Promise<void>;
    say(event: object): void;
    readonly socket: WebSocket;
    closed: Promise<{ code: number }>;
  }>;
}

export const done = (id: string) => ({
  type: 'response.done',
  response: { id, status: 'completed', usage: responseUsage },
});

/** Secrets for browsers, and calls over WebRTC and SIP, through the gateway. */
export function callCases(bench: () => CallBench): void {
  let saved: string;
  const vendor = () => bench().vendor;

  beforeAll(async () => {
    saved = await bench().lab.saveProvider({
      aiProviderId: 'openai',
      key: vendorKey,
      customHost: vendor().base,
    });
  });

  const post = (path: string, body: unknown, over: { key?: string; headers?: object } = {}) =>
    bench().lab.scenario.call(`/v1/realtime${path}`, {
      host: null,
      body,
      ...(over.key === undefined ? {} : { key: over.key }),
      headers: { 'x-service-provider': saved, ...over.headers },
    });

  const mint = async (session: object, over: Parameters<typeof post>[2] = {}) => {
    const answer = await post('/client_secrets', { session }, over);
    expect(answer.status, await answer.clone().text()).toBe(200);
    return (await answer.json()) as { value: string; expires_at: number; session: object };
  };

  /** As a page does: with the secret alone. */
  const place = (secret: string, over: RequestInit = {}, query = '') =>
    fetch(`${bench().lab.scenario.stack.gatewayUrls[0]}/v1/realtime/calls${query}`, {
      method: 'POST',
      body: sdpOffer,
      ...over,
      headers: {
        'content-type': 'application/sdp',
        authorization: `Bearer ${secret}`,
        origin: 'https://page.example',
        ...over.headers,
      },
    });

  const heard = (call = vendor().calls.last) =>
    eventually(() => expect(call.sidebands.size).toBe(1));

  describe('a minted secret', () => {
    it('places a call as its key, with its session, and says nothing of either', async () => {
      const session = { type: 'realtime', model: 'gpt-realtime', instructions: 'Be brief.' };
      const minted = await mint(session, {
        headers: { 'x-service-metadata': '{"metadata":"called"}' },
      });
      expect(minted).toMatchObject({ session: { ...session, object: 'realtime.session' } });
      expect(minted.value).toMatch(/^ek_sluice_[\w-]+$/);
      expect(minted.expires_at - Date.now() / 1000).toBeGreaterThan(590);
      const { workspace_key: key } = bench().lab.scenario.stack.credentials;
      expect(minted.value).not.toContain(key);

      const answer = await place(minted.value, {
        headers: { 'x-service-provider': 'anthropic', cookie: 'a=b' },
      });
      expect(answer.status, await answer.clone().text()).toBe(201);
      expect(await answer.text()).toBe(sdpAnswer);
      const call = vendor().calls.last;
      expect(answer.headers.get('location')).toBe(`/v1/realtime/calls/${call.id}`);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toContain('location');
      expect(call).toMatchObject({ session, sdp: sdpOffer });
      const asked = JSON.stringify(vendor().calls.asked.at(-1)?.headers);
      for (const secret of [minted.value, key, 'page.example', 'a=b'])
        expect(asked).not.toContain(secret);
      await heard(call);
      expect(vendor().handshakes.at(-1)).toMatchObject({
        url: `/v1/realtime?call_id=${call.id}`,
        headers: { authorization: `Bearer ${vendorKey}` },
      });
      call.say({ type: 'response.created', response: { id: 'r1' } });
      call.say(done('r1'));
      call.say({
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: 'i1',
        usage: { type: 'tokens', input_tokens: 50, output_tokens: 5 },
      });
      const [record] = await bench().recordsOf('called', 'response.done', 1);
      expect(record).toMatchObject({
        endpoint: 'realtime',
        model: 'gpt-realtime',
        inputAudioTokens: 600n,
        costKnown: true,
      });
      await bench().recordsOf('called', 'conversation.item.input_audio_transcription.completed', 1);
      call.end();
      await eventually(() => expect(call.sidebands.size).toBe(0));
    });

    it('opens a session over a WebSocket, too, that is told what it is', async () => {
      const { value } = await mint({ type: 'realtime', model: 'echo', instructions: 'Be brief.' });
      const over = {
        key: null,
        host: null,
        protocols: ['realtime', `openai-insecure-api-key.${value}`],
      };
      const live = await bench().session(undefined, over);
      await live.hears('session.update');
      expect(vendor().handshakes.at(-1)?.url).toBe('/v1/realtime?model=echo');
      await expect(bench().session('other', over)).rejects.toThrow('403');
      await expect(bench().session(undefined, { ...over, query: 'call_id=rtc_1' })).rejects.toThrow(
        '401',
      );
    });

    it('is refused where it is none, has ended, was changed, or its key is gone', async () => {
      const { key, id } = await bench().newKey({});
      const { value } = await mint({ model: 'gpt-realtime' }, { key });
      const changed = `${value.slice(0, -3)}${value.endsWith('AAA') ? 'BBB' : 'AAA'}`;
      for (const secret of [changed, 'ek_sluice_', 'ek_sluice_x', 'ek_of_vendor']) {
        const refused = await place(secret);
        expect(refused.headers.get('access-control-allow-origin')).toBe('*');
        expect(await errorOf(refused)).toMatchObject({ status: 401, code: 'auth.invalid_key' });
      }
      // Anywhere else it is nothing.
      const elsewhere = await bench().lab.scenario.call('/v1/chat/completions', {
        host: null,
        key: value,
        headers: { 'x-service-provider': saved },
      });
      expect(elsewhere.status).toBe(401);
      expect((await place(value)).status).toBe(201);
      await bench()
        .lab.scenario.admin('DELETE', `/api-keys/${id}`)
        .catch(() => undefined);
      await eventually(async () => expect((await place(value)).status).toBe(401));
      // And the call that it placed is hung up.
      const { calls } = vendor();
      await eventually(() =>
        expect(
          calls.all.every(
            (call) => call.session.model !== 'gpt-realtime' || call.hungUpAt !== undefined,
          ),
        ).toBe(true),
      );
    });

    it.each<[string, object, number, string]>([
      ['a life that is too short', { expires_after: { seconds: 9 } }, 400, 'request.invalid_field'],
      [
        'a life that is too long',
        { expires_after: { seconds: 7201 } },
        400,
        'request.invalid_field',
      ],
      ['another anchor', { expires_after: { anchor: 'used_at' } }, 400, 'request.invalid_field'],
      ['a session that is none', { session: [] }, 400, 'request.invalid_field'],
      [
        'a session that fits no header',
        { session: { model: 'm', instructions: 'long '.repeat(4000) } },
        413,
        'request.too_large',
      ],
    ])('is not made for %s', async (_name, body, status, code) => {
      expect(await errorOf(await post('/client_secrets', body))).toMatchObject({ status, code });
    });

    it('is made for a saved provider that has sessions, and its models', async () => {
      const session = { model: 'gpt-realtime' };
      const raw = await post(
        '/client_secrets',
        { session },
        {
          headers: { 'x-service-provider': 'openai', authorization: 'Bearer sk-of-caller' },
        },
      );
      expect(await errorOf(raw)).toMatchObject({ code: 'provider.endpoint_unsupported' });
      const none = await post(
        '/client_secrets',
        { session },
        { headers: { 'x-service-provider': 'anthropic' } },
      );
      expect(none.status).toBe(400);
      const few = await bench().lab.saveProvider({
        aiProviderId: 'openai',
        key: vendorKey,
        customHost: vendor().base,
      });
      await bench().lab.manage('PUT', `/integrations/${few.slice(1)}/models`, {
        models: [{ slug: 'gpt-realtime', enabled: true, is_custom: true }],
        allow_all_models: false,
      });
      const at = { headers: { 'x-service-provider': few } };
      await eventually(async () =>
        expect(
          await errorOf(await post('/client_secrets', { session: { model: 'other' } }, at)),
        ).toMatchObject({ status: 403, code: 'provider.model_not_allowed' }),
      );
      const { value } = await mint(session, at);
      const other = await place(value, {}, '?model=other');
      expect(await errorOf(other)).toMatchObject({ code: 'provider.model_not_allowed' });
      const hidden = {
        model: 'gpt-realtime',
        audio: { input: { transcription: { model: 'other' } } },
      };
      expect((await post('/client_secrets', { session: hidden }, at)).status).toBe(403);
      expect((await post('/sessions', { model: 'other', voice: 'a' }, at)).status).toBe(403);
      const transcription = {
        type: 'transcription',
        audio: { input: { transcription: { model: 'other' } } },
      };
      expect((await post('/client_secrets', { session: transcription }, at)).status).toBe(403);
      const accepted = await post(
        '/calls/rtc_sip_few/accept',
        { type: 'realtime', model: 'other' },
        at,
      );
      expect(accepted.status).toBe(403);
    });

    it('asks for what is allowed when it is used, and a page has no say in it', async () => {
      const { scenario } = bench().lab;
      const bind = (block_inline_config: boolean) =>
        scenario.admin('PUT', '/admin/organisation/settings', {
          data_plane_security_settings: { block_inline_config },
        });
      const inline = { headers: { 'x-service-config': '{"retry":{"attempts":1}}' } };
      const session = { model: 'echo' };
      const [{ value: unbound }, { value: plain }] = [
        await mint(session, inline),
        await mint(session),
      ];
      const blocked = { status: 400, code: 'inline_config_blocked' };
      await bind(true);
      try {
        await eventually(async () =>
          expect(await errorOf(await post('/client_secrets', { session }, inline))).toMatchObject(
            blocked,
          ),
        );
        expect(await errorOf(await place(unbound))).toMatchObject(blocked);
        const protocols = ['realtime', `openai-insecure-api-key.${unbound}`];
        await expect(
          bench().session(undefined, { key: null, host: null, protocols }),
        ).rejects.toThrow('400');
        expect((await place(plain, inline)).status).toBe(201);
        vendor().calls.last.end();
      } finally {
        await bind(false);
      }
      await eventually(async () => expect((await place(unbound)).status).toBe(201));
      vendor().calls.last.end();
    });

    it('comes in the words of the beta as well', async () => {
      const answer = await post('/sessions', {
        model: 'gpt-realtime',
        voice: 'marin',
        modalities: ['text', 'audio'],
      });
      const { client_secret } = (await answer.json()) as { client_secret: { value: string } };
      expect((await place(client_secret.value)).status).toBe(201);
      expect(vendor().calls.last.session).toEqual({
        type: 'realtime',
        model: 'gpt-realtime',
        output_modalities: ['audio'],
        audio: { output: { voice: 'marin' } },
      });
      const words = await post('/transcription_sessions', {
        input_audio_transcription: { model: 'gpt-4o-transcribe' },
      });
      expect(await words.json()).toMatchObject({
        object: 'realtime.transcription_session',
        type: 'transcription',
      });
    });
  });

  describe('a call', () => {
    it('lets pages of any origin ask', async () => {
      const asked = await fetch(`${bench().lab.scenario.stack.gatewayUrls[0]}/v1/realtime/calls`, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://page.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type',
        },
      });
      expect(asked.status).toBe(204);
      expect(asked.headers.get('access-control-allow-headers')).toContain('authorization');
    });

    it('is hung up within two seconds when a budget is used up', async () => {
      const { key } = await bench().newKey({
        usage_limits: { type: 'tokens', credit_limit: 2000 },
      });
      const { value } = await mint(
        { model: 'stubborn' },
        { key, headers: { 'x-service-metadata': '{"metadata":"spent"}' } },
      );
      expect((await place(value)).status).toBe(201);
      const call = vendor().calls.last;
      await heard(call);
      call.say(done('r1'));
      await bench().recordsOf('spent', 'response.done', 1);
      expect(call.hungUpAt).toBeUndefined();
      const at = performance.now();
      call.say(done('r2'));
      await eventually(() => expect(call.hungUpAt).toBeDefined());
      expect((call.hungUpAt ?? 0) - at).toBeLessThan(2000);
      await bench().recordsOf('spent', 'response.done', 2);
      const [why] = await bench().recordsOf('spent', 'call.hangup', 1);
      expect(why).toMatchObject({ errorCode: 'limit.budget_exhausted' });
      // Neither another secret nor another call.
      expect((await post('/client_secrets', { session: { model: 'm' } }, { key })).status).toBe(
        412,
      );
      expect(await errorOf(await place(value))).toMatchObject({
        status: 412,
        code: 'limit.budget_exhausted',
      });
    });

    it('has its transcripts at the price of who writes them, though nobody tells how it began', async () => {
      const transcription = { model: 'gpt-4o-transcribe' };
      const { value } = await mint(
        { model: 'gpt-realtime', audio: { input: { transcription } } },
        { headers: { 'x-service-metadata': '{"metadata":"written"}' } },
      );
      expect((await place(value)).status).toBe(201);
      const call = vendor().calls.last;
      await heard(call);
      const type = 'conversation.item.input_audio_transcription';
      call.say({
        type: `${type}.completed`,
        item_id: 'i1',
        transcript: 'hello',
        usage: {
          type: 'tokens',
          input_tokens: 50,
          output_tokens: 5,
          input_token_details: { text_tokens: 0, audio_tokens: 50 },
        },
      });
      const [written] = await bench().recordsOf('written', `${type}.completed`, 1);
      expect(written).toMatchObject({ responseModel: 'gpt-4o-transcribe', inputAudioTokens: 50n });
      expect(Number(written?.costNanoUsd)).toBe(50 * 6000 + 5 * 10_000);
      // What was spoken, by the clock of the session's sound, and is not written down when the call ends.
      call.say({ type: 'input_audio_buffer.speech_started', audio_start_ms: 2000, item_id: 'i2' });
      call.say({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: 7000, item_id: 'i2' });
      call.say({ type: 'input_audio_buffer.committed', item_id: 'i2' });
      await delay(200);
      call.end();
      const all = await bench().recordsOf('written', `${type}.completed`, 2);
      const cut = all.find(({ usageEstimated }) => usageEstimated);
      expect(cut).toMatchObject({ responseModel: 'gpt-4o-transcribe', inputAudioTokens: 50n });
    });

    it('is heard again when its sideband is lost, and hung up when it cannot be heard', async () => {
      const { value } = await mint(
        { model: 'late' },
        { headers: { 'x-service-metadata': '{"metadata":"lost"}' } },
      );
      expect((await place(value)).status).toBe(201);
      const call = vendor().calls.last;
      for (const round of [1, 2]) {
        await heard(call);
        call.say(done(`r${round}`));
        await bench().recordsOf('lost', 'response.done', round);
        const before = [...call.sidebands];
        for (const socket of before) socket.terminate();
        await eventually(() => {
          expect(call.sidebands.size).toBe(1);
          expect(before.some((socket) => call.sidebands.has(socket))).toBe(false);
        });
      }
      call.end();
      const { value: deaf } = await mint({ model: 'deaf' });
      expect((await place(deaf)).status).toBe(201);
      const unheard = vendor().calls.last;
      await eventually(() => expect(unheard.hungUpAt).toBeDefined());
    });

    it('takes a form, and says what is wrong with others', async () => {
      const { workspace_key: key } = bench().lab.scenario.stack.credentials;
      const form = new FormData();
      form.set('sdp', new Blob([sdpOffer], { type: 'application/sdp' }));
      form.set('session', JSON.stringify({ type: 'realtime', model: `${saved}/gpt-realtime` }));
      const at = `${bench().lab.scenario.stack.gatewayUrls[0]}/v1/realtime/calls`;
      const headers = { 'x-service-api-key': key };
      const placed = await fetch(at, { method: 'POST', body: form, headers });
      expect(placed.status, await placed.text()).toBe(201);
      expect(vendor().calls.last.session.model).toBe('gpt-realtime');
      form.append('session', '{}');
      const twice = await fetch(at, { method: 'POST', body: form, headers });
      expect(await errorOf(twice)).toMatchObject({ code: 'request.ambiguous_member' });
      const { value } = await mint({});
      expect(await errorOf(await place(value, { body: 'hello' }))).toMatchObject({
        code: 'request.invalid_field',
      });
      expect(await errorOf(await place(value))).toMatchObject({
        code: 'request.invalid_field',
        status: 400,
      });
      expect(
        await errorOf(await place(value, { headers: { 'content-type': 'text/plain' } })),
      ).toMatchObject({ code: 'request.unsupported_content_type' });
      const nameless = await place(value, {}, '?model=no-location');
      expect(await errorOf(nameless)).toMatchObject({
        status: 502,
        code: 'upstream.invalid_response',
      });
    });

    it('is its workspace’s alone, and steered by whoever may', async () => {
      const { value } = await mint(
        { model: 'gpt-realtime' },
        { headers: { 'x-service-metadata': '{"metadata":"steered"}' } },
      );
      expect((await place(value)).status).toBe(201);
      const call = vendor().calls.last;
      await heard(call);
      // A server beside it: it is counted once.
      const beside = await bench().session(undefined, { host: null, query: `call_id=${call.id}` });
      await eventually(() => expect(call.sidebands.size).toBe(2));
      call.say(done('r1'));
      await beside.hears('response.done');
      await bench().recordsOf('steered', 'response.done', 1);
      const hungUp = await bench().lab.scenario.call(`/v1/realtime/calls/${call.id}/hangup`, {
        host: null,
        body: {},
      });
      expect(hungUp.status).toBe(200);
      expect((await beside.closed).code).toBe(1000);
      await bench().recordsOf('steered', 'response.done', 1);
    });

    it('over SIP is accepted with a session, heard, referred and rejected', async () => {
      const headers = { 'x-service-metadata': '{"metadata":"sip"}' };
      const [taken, other] = [`rtc_sip_${Date.now()}_1`, `rtc_sip_${Date.now()}_2`];
      const accepted = await post(
        `/calls/${taken}/accept`,
        { type: 'realtime', model: `${saved}/gpt-realtime` },
        { headers },
      );
      expect(accepted.status, await accepted.text()).toBe(200);
      const call = vendor().calls.byId(taken)!;
      expect(call.session).toEqual({ type: 'realtime', model: 'gpt-realtime' });
      await heard(call);
      call.say(done('r1'));
      await bench().recordsOf('sip', 'response.done', 1);
      expect((await post(`/calls/${taken}/refer`, { target_uri: 'tel:+1' })).status).toBe(200);
      expect((await post(`/calls/${other}/reject`, { status_code: 486 })).status).toBe(200);
      expect(vendor().calls.asked.at(-1)).toMatchObject({
        path: `/v1/realtime/calls/${other}/reject`,
        body: '{"status_code":486}',
      });
      call.end();
    });
  });
}
