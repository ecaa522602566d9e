import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { keepAliveMs } from '@sluice/testkit';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { FakeCalls } from './fake-calls.ts';

/** What a vendor of sessions is asked, and does: it refuses what a real one refuses. */
export interface FakeVendor {
  /** Base of its API, with the version. */
  readonly base: string;
  readonly port: number;
  /** Each handshake that came, in order. */
  readonly handshakes: Handshake[];
  /** Sessions that are open. */
  readonly sockets: Set<WebSocket>;
  readonly calls: FakeCalls;
  /** The next one to open. */
  next(): Promise<WebSocket>;
  close(): Promise<void>;
}

export interface Handshake {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

export const vendorKey = 'sk-vendor';

export const responseUsage = {
  total_tokens: 1300,
  input_tokens: 1000,
  output_tokens: 300,
  input_token_details: {
    text_tokens: 400,
    audio_tokens: 600,
    cached_tokens: 100,
    cached_tokens_details: { text_tokens: 40, audio_tokens: 60 },
  },
  output_token_details: { text_tokens: 100, audio_tokens: 200 },
};

/** Events that a vendor of sessions takes; any other is answered by an error. */
const known = new Set([
  'session.update',
  'conversation.item.create',
  'conversation.item.delete',
  'input_audio_buffer.append',
  'session.input_audio_buffer.append',
  'input_audio_buffer.commit',
  'response.create',
  'response.steer',
  'response.cancel',
]);

/** Responses over WebSockets, whose ids are not told twice. */
let responsesMade = 0;

/**
 * Models do what their names say: `refuse-429` answers the handshake so, `hang` never
 * does, `redirect` and `plain` answer as no WebSocket would, `echo` returns each frame as it
 * came, `close-4001` closes so at once, `gone` cuts the connection,
 * `talks` tells its conversation. All others hold one.
 */
export async function startFakeVendor(): Promise<FakeVendor> {
  const calls = new FakeCalls(vendorKey);
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (req, res) => {
    calls.answer(req, res).then(
      (isAnswered) => isAnswered || res.writeHead(404).end(),
      () => res.destroy(),
    );
  });
  const sessions = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    clientTracking: false,
    skipUTF8Validation: true,
  });
  const handshakes: Handshake[] = [];
  const sockets = new Set<WebSocket>();
  const raw = new Set<Duplex>();
  const waiting: ((socket: WebSocket) => void)[] = [];

  server.on('upgrade', (req, socket, head) => {
    raw.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => raw.delete(socket));
    handshakes.push({ url: req.url ?? '', headers: req.headers });
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://vendor');
    const model = searchParams.get('model') ?? '';
    const shown = req.headers.authorization ?? req.headers['api-key'];
    if (shown !== `Bearer ${vendorKey}` && shown !== vendorKey)
      return void refuse(socket, 401, 'Incorrect API key provided.');
    const callId = searchParams.get('call_id');
    const refused = callId === null ? undefined : calls.refusesSideband(callId);
    if (refused !== undefined) return void refuse(socket, refused, 'call_id_not_found');
    const [, status] = /^refuse-(\d+)$/.exec(model) ?? [];
    if (status !== undefined) return void refuse(socket, Number(status), `refused with ${status}`);
    if (model === 'hang') return;
    if (model === 'redirect')
      return void socket.end('HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\n\r\n');
    if (model === 'plain') return void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi');
    if (model === 'garbage') return void socket.end('SSH-2.0-OpenSSH\r\n');
    sessions.handleUpgrade(req, socket, head, (opened) => {
      sockets.add(opened);
      opened.on('close', () => sockets.delete(opened));
      opened.on('error', () => {});
      const call = callId === null ? undefined : calls.byId(callId);
      // Whoever listens to a call that is under way is not told how it began.
      if (call === undefined) converse(opened, model, pathname);
      else {
        call.sidebands.add(opened);
        opened.on('message', (data) => call.told.push(JSON.parse(String(data))));
        opened.on('close', () => call.sidebands.delete(opened));
      }
      waiting.shift()?.(opened);
    });
  });
  await listen(server);
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}/v1`,
    port,
    handshakes,
    sockets,
    calls,
    next: () => new Promise((resolve) => void waiting.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        for (const socket of raw) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}

function refuse(socket: Duplex, status: number, message: string): void {
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error' } });
  socket.end(
    `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\nretry-after: 7\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

function converse(socket: WebSocket, model: string, pathname: string): void {
  const send = (event: object) => socket.send(JSON.stringify({ event_id: 'event_1', ...event }));
  const [, code] = /^close-(\d+)$/.exec(model) ?? [];
  if (code !== undefined) return void socket.close(Number(code), 'as asked');
  if (model === 'close-plain') return void socket.close();
  if (model === 'gone') return void socket.terminate();
  if (model === 'silent') return;
  if (model === 'echo') {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    return;
  }
  let responses = 0;
  if (pathname.endsWith('/realtime'))
    send({ type: 'session.created', session: { model, id: 's' } });
  socket.on('message', (data: RawData) => {
    let event: { type?: string; cut?: boolean; session?: object; sounds?: number; item?: object };
    try {
      event = JSON.parse(String(data));
    } catch {
      return void send({ type: 'error', error: { code: 'invalid_json', message: 'no JSON' } });
    }
    if (!known.has(event.type ?? ''))
      return void send({
        type: 'error',
        error: { code: 'invalid_value', message: 'unknown type' },
      });
    if (event.type === 'session.update')
      return void send({ type: 'session.updated', session: { model, ...event.session } });
    if (model === 'talks' && event.type === 'conversation.item.create')
      return void send({ type: 'conversation.item.added', item: event.item });
    const toldIn = 'conversation.item.input_audio_transcription';
    if (event.type === 'input_audio_buffer.commit' && event.cut === true) {
      send({ type: 'input_audio_buffer.committed', item_id: 'item_cut' });
      return void send({ type: `${toldIn}.delta`, item_id: 'item_cut', delta: 'word '.repeat(80) });
    }
    if (event.type === 'input_audio_buffer.commit')
      return void send({
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: 'item_1',
        transcript: 'hello',
        usage:
          model === 'by-duration'
            ? { type: 'duration', seconds: 12 }
            : { type: 'tokens', input_tokens: 50, output_tokens: 5, input_token_details: {} },
      });
    if (event.type !== 'response.create' && event.type !== 'response.steer') return;
    const id = `resp_${++responses}`;
    if (pathname.endsWith('/responses')) {
      const made = { id: `resp_${++responsesMade}`, object: 'response' };
      send({ type: 'response.created', response: made });
      if (event.cut === true) return;
      send({
        type: 'response.completed',
        response: {
          ...made,
          model: 'gpt-4o-mini',
          status: 'completed',
          usage: { input_tokens: 10, output_tokens: 20 },
        },
      });
      return;
    }
    send({ type: 'response.created', response: { id, status: 'in_progress' } });
    if (event.sounds !== undefined)
      send({ type: 'response.output_audio.delta', delta: 'A'.repeat(event.sounds) });
    if (event.cut === true) return;
    if (model === 'spoken') {
      const type = 'conversation.item.input_audio_transcription.completed';
      send({ type, item_id: 'heard', transcript: 'it is forbidden' });
      send({
        type: 'response.output_audio_transcript.done',
        item_id: 'said',
        transcript: 'yes, forbidden',
      });
    }
    send({ type: 'response.output_audio.delta', delta: 'AAAA' });
    const content = [{ type: 'output_audio', transcript: `answer ${responses}` }];
    const item = { id: `answer_${responses}`, type: 'message', role: 'assistant', content };
    if (model === 'talks') send({ type: 'conversation.item.done', item });
    const output = model === 'talks' ? [item] : [];
    const response = { id, status: 'completed', usage: responseUsage, output };
    send({ type: 'response.done', response });
  });
}
