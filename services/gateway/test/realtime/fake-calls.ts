import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { WebSocket } from 'ws';

/** A call as a vendor has it. */
export interface FakeCall {
  readonly id: string;
  readonly session: { type?: string; model?: string; instructions?: string };
  readonly sdp: string;
  readonly sidebands: Set<WebSocket>;
  /** What was said by who listens, in order. */
  readonly told: unknown[];
  /** How often a sideband was asked for. */
  listened: number;
  hungUpAt: number | undefined;
  /** Says it to whoever listens. */
  say(event: object): void;
  /** The caller leaves: nobody knows the call any more. */
  end(): void;
}

export const sdpOffer =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n';
export const sdpAnswer = sdpOffer.replace('o=- 1', 'o=- 2');

/**
 * Calls, as a vendor takes and refuses them. Models do what their names say: `no-location` does not tell its id, `late`
 * has its sideband a moment after its call, `deaf` never has one, `stubborn` does not hang up at the first asking.
 */
export class FakeCalls {
  readonly all: FakeCall[] = [];
  readonly asked: { path: string; headers: IncomingMessage['headers']; body: string }[] = [];
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  get last(): FakeCall {
    return this.all.at(-1) as FakeCall;
  }

  byId(id: string): FakeCall | undefined {
    return this.all.find((call) => call.id === id);
  }

  /** @returns the status by which a sideband is refused; undefined = it opens */
  refusesSideband(id: string): number | undefined {
    const call = this.byId(id);
    if (call === undefined || call.hungUpAt !== undefined) return 404;
    call.listened++;
    if (call.session.model === 'deaf') return 500;
    if (call.session.model === 'late' && call.listened < 3) return 404;
    return undefined;
  }

  /** @returns whether it was for us */
  async answer(req: IncomingMessage, res: ServerResponse): Promise<boolean> {
    const path = (req.url ?? '').replace(/\?.*$/, '');
    if (!path.startsWith('/v1/realtime/')) return false;
    const body = await text(req);
    this.asked.push({ path, headers: req.headers, body });
    const refuse = (status: number, message: string) => {
      res.writeHead(status, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }));
      return true;
    };
    const shown = req.headers['api-key'] ?? req.headers.authorization?.replace(/^Bearer /, '');
    if (shown !== this.#key) return refuse(401, 'wrong key');
    if (path.endsWith('/client_secrets')) {
      const { session } = JSON.parse(body);
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ value: 'ek_of_vendor', expires_at: 1, session }));
      return true;
    }
    const [, id = '', verb] = /\/realtime\/calls(?:\/([^/]+)\/(\w+))?$/.exec(path) ?? [];
    if (verb === undefined) {
      const type = req.headers['content-type'] ?? '';
      if (!type.startsWith('multipart/form-data')) return refuse(415, 'no form');
      const parts = new Map(
        [...body.matchAll(/name="(\w+)"[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/g)].map(
          ([, name, value]) => [name, value],
        ),
      );
      const session = JSON.parse(parts.get('session') ?? '{}');
      if (!parts.get('sdp')?.startsWith('v=0')) return refuse(400, 'no offer');
      const kind = path.includes('/translations/') ? undefined : 'realtime';
      if (session.type !== kind || typeof session.model !== 'string')
        return refuse(400, 'no session');
      const call = this.#add(`rtc_${this.all.length + 1}`, session, parts.get('sdp') ?? '');
      res.writeHead(201, {
        'content-type': 'application/sdp',
        ...(session.model === 'no-location' ? {} : { location: `/v1/realtime/calls/${call.id}` }),
      });
      res.end(sdpAnswer);
      return true;
    }
    if (verb === 'accept') {
      const session = JSON.parse(body);
      if (session.type !== 'realtime') return refuse(400, 'no session');
      this.#add(id, session, '');
      res.writeHead(200).end();
      return true;
    }
    const call = this.byId(id);
    if (verb === 'hangup' && call?.hungUpAt === undefined) {
      if (call === undefined) return refuse(404, 'no such call');
      if (call.session.model === 'stubborn' && this.#times(path) < 3) return refuse(503, 'later');
      call.end();
    }
    res.writeHead(200).end();
    return true;
  }

  #times(path: string): number {
    return this.asked.filter((one) => one.path === path).length;
  }

  #add(id: string, session: FakeCall['session'], sdp: string): FakeCall {
    const sidebands = new Set<WebSocket>();
    const call: FakeCall = {
      id,
      session,
      sdp,
      sidebands,
      told: [],
      listened: 0,
      hungUpAt: undefined,
      say(event) {
        for (const socket of sidebands) socket.send(JSON.stringify(event));
      },
      end() {
        call.hungUpAt = performance.now();
        for (const socket of sidebands) socket.close(1000);
      },
    };
    this.all.push(call);
    return call;
  }
}
