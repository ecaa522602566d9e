import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { missing } from '../openai-vendor.ts';
import { isObject, VendorFault } from '../protocol.ts';
import { DemoSession } from './demo-session.ts';
import { translate } from './demo-translation.ts';

/** Calls that are under way; the oldest is forgotten for one more. */
const callsMax = 1000;
const frameBytesMax = 16 * 1024 * 1024;
const path = '/v1/realtime';
const translations = `${path}/translations`;
const secretLifeS = 600;

/** Of a vendor's kind; nothing here asks for one. */
function secret(): { value: string; expires_at: number } {
  const value = `ek_demo_${randomUUID().replaceAll('-', '')}`;
  return { value, expires_at: Math.floor(Date.now() / 1000) + secretLifeS };
}

/** An answer that a browser takes for one, and that leads nowhere: there is no sound here. */
const answerSdp = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=sluice-demo',
  't=0 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'c=IN IP4 0.0.0.0',
  'a=inactive',
  'a=rtpmap:111 opus/48000/2',
  '',
].join('\r\n');

export function createDemoRealtime() {
  const calls = new Map<string, DemoSession>();
  let count = 0;
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: frameBytesMax,
    handleProtocols: (offered) => (offered.has('realtime') ? 'realtime' : false),
  });

  /** @param type of its session; undefined = it says none, as a translation */
  function begin(id: string, session: unknown, type: 'realtime' | undefined): void {
    if (!isObject(session) || session.type !== type) throw missing('session.type');
    if (typeof session.model !== 'string') throw missing('session.model');
    const [oldest] = calls.keys();
    if (calls.size >= callsMax && oldest !== undefined) calls.delete(oldest);
    calls.set(id, new DemoSession(session.model, session));
  }

  return {
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      const url = new URL(request.url ?? '/', 'http://demo');
      const callId = url.searchParams.get('call_id');
      const call = callId === null ? undefined : calls.get(callId);
      if (url.pathname === translations && callId === null) {
        sockets.handleUpgrade(request, socket, head, (opened) =>
          translate(opened, url.searchParams.get('model') ?? 'demo'),
        );
        return;
      }
      if (url.pathname !== path || (callId !== null && call === undefined)) {
        socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
        return;
      }
      sockets.handleUpgrade(request, socket, head, (opened) => {
        const model = url.searchParams.get('model') ?? 'demo';
        (call ?? new DemoSession(model, {})).join(opened, call === undefined);
      });
    },

    /** Makes secrets, places and steers calls. @returns whether it was for us @throws VendorFault */
    async answer(
      request: IncomingMessage,
      response: ServerResponse,
      read: () => Promise<string>,
    ): Promise<boolean> {
      const [at = '', below = '', what, id, verb] =
        /^\/v1\/realtime(\/translations)?\/(client_secrets|calls)(?:\/([^/]+)\/(accept|reject|refer|hangup))?$/.exec(
          (request.url ?? '').split('?', 1)[0] ?? '',
        ) ?? [];
      if (request.method !== 'POST' || at === '') return false;
      const text = await read();
      if (what === 'client_secrets') {
        const { session = {} } = JSON.parse(text === '' ? '{}' : text);
        if (!isObject(session)) throw missing('session');
        const body = JSON.stringify({ ...secret(), session });
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
        return true;
      }
      if (id === undefined) {
        const form = JSON.parse(text);
        if (typeof form.sdp !== 'string' || !form.sdp.startsWith('v=0')) throw missing('sdp');
        const made = `rtc_demo_${++count}`;
        begin(made, JSON.parse(form.session ?? '{}'), below === '' ? 'realtime' : undefined);
        const location = `${path}/calls/${made}`;
        response.writeHead(201, { 'content-type': 'application/sdp', location }).end(answerSdp);
        return true;
      }
      if (verb === 'accept') begin(id, JSON.parse(text), 'realtime');
      if (verb === 'hangup') {
        const call = calls.get(id);
        if (call === undefined) throw new VendorFault(404, `No call found with id '${id}'.`);
        calls.delete(id);
        call.end();
      }
      response.writeHead(200, { 'content-length': '0' }).end();
      return true;
    },

    close(): void {
      for (const call of calls.values()) call.end();
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}
